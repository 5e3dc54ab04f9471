#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Simulates jets of five kinds with Pythia 8 at the LHC's 13 TeV (gluons, light
# quarks, hadronic W and Z bosons and top quarks, at transverse momenta around
# 1 TeV) and computes 16 observables of each: those of the jet taggers of
# Duarte et al., arXiv:1804.06913, without their two duplicates, and with the
# mass before grooming. Writes jets.npz for train.py. Takes ten minutes.

import argparse
import itertools
import math

import fastjet
import numpy as np
import pythia8mc as pythia8

SEED = 20240229
LOW, HIGH = 800, 1200     # GeV, the range of a jet's transverse momentum
RADIUS = 0.8
CONSTITUENTS = 40         # the hardest ones enter the energy correlations
OBSERVABLES = [
    "zlogz", "c1_b0", "c1_b1", "c1_b2", "c2_b1", "c2_b2", "d2_b1", "d2_b2",
    "d2_a1_b2", "m2_b1", "m2_b2", "n2_b1", "n2_b2", "mass", "mass_mmdt",
    "multiplicity"]
HADRONIC = {
    "W": ["24:onMode = off", "24:onIfAny = 1 2 3 4"],
    "Z": ["23:onMode = off", "23:onIfAny = 1 2 3 4 5",
          "WeakZ0:gmZmode = 2"],
    "t": ["24:onMode = off", "24:onIfAny = 1 2 3 4"]}
PROCESSES = {
    "g": ["HardQCD:gg2gg = on", "HardQCD:qqbar2gg = on"],
    "q": ["HardQCD:qq2qq = on", "HardQCD:gg2qqbar = on",
          "HardQCD:qqbar2qqbarNew = on"],
    "W": ["WeakDoubleBoson:ffbar2WW = on"],
    "Z": ["WeakDoubleBoson:ffbar2gmZgmZ = on"],
    "t": ["Top:gg2ttbar = on", "Top:qqbar2ttbar = on"]}
KINDS = list(PROCESSES)


def generator(kind):
    pythia = pythia8.Pythia("", False)
    for line in ["Print:quiet = on", "Random:setSeed = on",
                 f"Random:seed = {SEED + KINDS.index(kind)}",
                 "Beams:eCM = 13000.", f"PhaseSpace:pTHatMin = {LOW}",
                 f"PhaseSpace:pTHatMax = {HIGH + 200}",
                 *PROCESSES[kind], *HADRONIC.get(kind, [])]:
        pythia.readString(line)
    pythia.init()
    return pythia


def jets(pythia):
    """The event's two hardest jets that lie in the range."""
    particles = [fastjet.PseudoJet(p.px(), p.py(), p.pz(), p.e())
                 for p in pythia.event
                 if p.isFinal() and p.isVisible() and abs(p.eta()) < 3]
    sequence = fastjet.ClusterSequence(
        particles, fastjet.JetDefinition(fastjet.antikt_algorithm, RADIUS))
    found = fastjet.sorted_by_pt(sequence.inclusive_jets(200.0))[:2]
    return [list(jet.constituents()) for jet in found
            if LOW <= jet.pt() <= HIGH and abs(jet.eta()) < 2.2]


def groomed_mass(parts):
    """Modified mass drop: declusters until a branch carries a tenth."""
    sequence = fastjet.ClusterSequence(parts, fastjet.JetDefinition(
        fastjet.cambridge_algorithm, 10 * RADIUS))
    jet = fastjet.sorted_by_pt(sequence.inclusive_jets())[0]
    one, two = fastjet.PseudoJet(), fastjet.PseudoJet()
    while jet.has_parents(one, two):
        if min(one.pt(), two.pt()) > 0.1 * (one.pt() + two.pt()):
            return jet.m()
        jet = fastjet.PseudoJet(one if one.pt() > two.pt() else two)
        one, two = fastjet.PseudoJet(), fastjet.PseudoJet()
    return 0.0


TRIPLES = np.array(list(itertools.combinations(range(CONSTITUENTS), 3)))


def observables(parts):
    momenta = np.array([(p.pt(), p.rap(), p.phi(), p.px(), p.py(), p.pz(),
                         p.e()) for p in parts])
    momenta = momenta[np.argsort(-momenta[:, 0])]
    total = momenta[:, 3:].sum(0)
    mass = math.sqrt(max(total[3] ** 2 - (total[:3] ** 2).sum(), 0))
    z = momenta[:, 0] / momenta[:, 0].sum()
    hard = momenta[:CONSTITUENTS]
    w = hard[:, 0] / hard[:, 0].sum()
    dphi = np.abs(hard[:, None, 2] - hard[None, :, 2])
    dphi = np.minimum(dphi, 2 * np.pi - dphi)
    far = np.hypot(hard[:, None, 1] - hard[None, :, 1], dphi)
    i, j = np.triu_indices(len(hard), 1)
    e2 = {b: float((w[i] * w[j] * far[i, j] ** b).sum()) for b in (0, 1, 2)}
    t = TRIPLES[(TRIPLES < len(hard)).all(1)]
    sides = np.sort(np.stack([far[t[:, 0], t[:, 1]], far[t[:, 0], t[:, 2]],
                              far[t[:, 1], t[:, 2]]]), axis=0)
    weight = w[t].prod(1)

    def e3(b, angles):
        return float((weight * sides[:angles].prod(0) ** b).sum())
    return [float(-(z * np.log(z)).sum()), e2[0], e2[1], e2[2],
            e3(1, 3) / e2[1] ** 2, e3(2, 3) / e2[2] ** 2,
            e3(1, 3) / e2[1] ** 3, e3(2, 3) / e2[2] ** 3,
            e3(1, 3) / e2[2] ** 1.5,
            e3(1, 1) / e2[1], e3(2, 1) / e2[2],
            e3(1, 2) / e2[1] ** 2, e3(2, 2) / e2[2] ** 2,
            mass, groomed_mass(parts), float(len(parts))]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jets", type=int, default=6000, help="of each kind")
    parser.add_argument("--output", default="jets.npz")
    args = parser.parse_args()
    rows, labels = [], []
    for label, kind in enumerate(KINDS):
        pythia, begun = generator(kind), len(rows)
        while len(rows) < begun + args.jets:
            if pythia.next():
                rows += [observables(parts) for parts in jets(pythia)
                         if len(parts) > 3]
        del rows[begun + args.jets:]
        labels += [label] * args.jets
        print(kind, "mass", np.median(np.array(rows)[begun:, 14]), flush=True)
    np.savez_compressed(args.output, x=np.array(rows, np.float32),
                        y=np.array(labels, np.int64))


if __name__ == "__main__":
    main()
