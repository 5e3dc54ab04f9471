#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The acceptance suite: drives the rhizome binary from model files to simulated
hardware. CTest runs each suite and network as its own test; by hand, e.g.
    test/e2e/e2e.py hardware lenet5 all
"""
import argparse
import sys

import accuracy
import allkernels
import attention
import bodies
import border
import boundary
import bounded
import boards
import clients
import cluster
import configs
import dies
import drivers
import engines
import explore
import extremes
import faults
import framework
import golden
import hardware
import homes
import hostile
import hostilemodules
import hostilepackages
import imports
import install
import kernelcluster
import kernelfront
import kernelhost
import kernels
import kernelsystems
import look
import mutations
import nodecases
import nodes
import operations
import packages
import pages
import phases
import plans
import precision
import python
import programs
import quantizers
import randomkernels
import recurrent
import reference
import remedies
import report
import robustness
import rtl
import shared
import site_pages
import soak
import spill
import streams
import strangers
import styles
import systems
import tasks
import testbench
import torchmlir
import trained
import transformer
import vendorflows
import vendorruns
import weights
import wheels

SUITES = {
    "hardware": hardware.hardware,      # NETWORK quick|all
    "smallest": hardware.smallest,      # NETWORK
    "accuracy": accuracy.accuracy,      # NETWORK
    "images": accuracy.images,
    "first-frames": accuracy.first_frames,  # NETWORK
    "kws": accuracy.kws,
    "mnist": trained.mnist,             # NAME…
    "calibrated": trained.calibrated,   # NAME…
    "calibrated-rtl": trained.calibrated_rtl,  # NAME
    "reference": reference.reference,   # NETWORK FRAMES
    "golden": golden.golden,            # NETWORK LEVEL
    "engine": engines.faces,            # NETWORK CORE FACES FRAMES
    "engine-core": engines.shared_core,
    "engine-layers": engines.layers,    # DEVICE MHZ
    "engine-opencl": engines.opencl,    # NETWORK DEVICE FRAMES
    "engine-package": engines.package,  # NETWORK DEVICE MHZ
    "engine-rtl": engines.rtl,          # NETWORK CORE SEEDS
    "explore": explore.explore,
    "configs": configs.configs,
    "pages": pages.pages,
    "pages-long": pages.pages_long,
    "faults-kills": faults.kills,       # COUNT [COMMAND…]
    "faults-cache": faults.one_cache,   # COMMAND
    "faults-disks": faults.disks,
    "faults-environments": faults.environments,
    "faults-clocks": faults.clocks,
    "faults-lengths": faults.lengths,
    "boards": boards.boards,
    "drivers": drivers.drivers,
    "client-mnist": clients.mnist,
    "bitstream": boards.bitstream,
    "dsp-netlist": boards.dsp_netlist,
    "ecp5": boards.ecp5,
    "depth": boards.depth,
    "cluster": cluster.small,
    "cluster-death": cluster.death,
    "cluster-cut": cluster.cut,         # NETWORK
    "cluster-line-rate": cluster.line_rate,
    "cluster-memories": cluster.memories,
    "cluster-writers": cluster.writers,
    "cluster-small-frames": cluster.small_frames,
    "cluster-saturated": cluster.saturated,
    "cluster-host-port": cluster.host_port,
    "cluster-split": cluster.split,
    "cluster-unlike": cluster.unlike,
    "cluster-wide": cluster.wide,
    "node-cases": nodecases.node_cases,
    "border": border.after_faults,
    "nodes": nodes.loopback,
    "nodes-client": nodes.generated_client,
    "nodes-key": nodes.with_key,
    "nodes-memories": nodes.with_memories,
    "nodes-namespaces": nodes.in_namespaces,
    "nodes-failover": nodes.failover,
    "soak": soak.soak,
    "streams": streams.streams,
    "streams-nodes": streams.deployed,
    "install": install.install,
    "migraphx": imports.migraphx,
    "functions": imports.shipping_functions,
    "shipping": imports.shipping,
    "channels-last": imports.channels_last,
    "torch-mlir": torchmlir.torch_mlir,
    "torch-mlir-rtl": torchmlir.torch_mlir_rtl,
    "styles": styles.styles,            # NAME…
    "operations": operations.operations,
    "turns": operations.turns,
    "attention": attention.attention,
    "encoders": transformer.encoders,
    "transformer": transformer.transformer,
    "tasks": tasks.tasks,
    "tasks-service": tasks.service,
    "programs": programs.programs,
    "recurrent": recurrent.recurrent,
    "bodies": bodies.bodies,
    "bounded": bounded.bounded,
    "states": recurrent.states,
    "state-homes": homes.homes,
    "shared-units": shared.shared,
    "shared-homes": shared.shared_homes,
    "shared-blocks": shared.shared_blocks,
    "separable-blocks": shared.separable_blocks,
    "repeated-blocks": shared.repeated_blocks,
    "shared-netlist": shared.shared_netlist,
    "rtl": rtl.rtl,                     # PART PARTS
    "packages": packages.packages,
    "boundary": boundary.boundary,     # PART
    "hostile-packages": hostilepackages.hostile,  # COUNT SEED
    "hostile-modules": hostilemodules.modules,  # COUNT of bytecode
    "hostile-names": hostile.names,
    "hostile-pages": hostile.pages,
    "hostile-bombs": hostile.bombs,
    "hostile-special": hostile.special,
    "hostile-flat": hostile.flat,
    "hostile-memory": hostile.memory,
    "hostile-statuses": hostile.statuses,
    "mutations": mutations.mutations,   # KIND COUNT [SEED]
    "mutations-everyday": mutations.everyday,
    "extremes": extremes.extremes,      # COUNT [SEED]
    "strangers": strangers.strangers,
    "strangers-folders": strangers.folders,
    "strangers-models": strangers.models,
    "strangers-live": strangers.live,   # SECONDS
    "phases": phases.phases,
    "kernel-phases": phases.kernel_phases,
    "phases-examples": phases.phases_examples,
    "plans": plans.plans,
    "precision": precision.precision,
    "dies": dies.dies,
    "spill": spill.spill,
    "spill-choice": spill.choice,
    "spill-paced": spill.paced,
    "spill-dies": spill.on_dies,
    "weights": weights.weights,
    "weights-streamed": weights.streamed,
    "weights-whole": weights.whole,     # NETWORK RATE
    "weights-layers": weights.layers,
    "weights-batches": weights.batches,
    "wheel": wheels.wheel,
    "python": python.python,
    "python-documents": python.documents,
    "python-bitstream": python.bitstream,
    "site": site_pages.site,
    "trace": look.trace,
    "trace-calibrated": look.trace_calibrated,
    "trace-pttcnn": look.trace_pttcnn,
    "kernel-trace": look.kernel_trace,
    "testbench": testbench.plain,
    "testbench-cocotb": testbench.cocotb,
    "elaborate": testbench.elaborate,
    "report": report.report,
    "report-baseline": report.baseline,
    "report-kernel": report.kernel,
    "targets": report.targets,
    "vendor-flows": vendorflows.vendor_flows,
    "vendor-kernel": vendorflows.reading_kernel,
    "vendor-runs": vendorruns.vendor_runs,
    "dma-drivers": vendorruns.dma_drivers,
    "axi-models": vendorflows.axi_models,
    "kernels": kernels.kernels,
    "kernel-page": kernels.kernel_page,
    "kernel-formats": kernels.kernel_formats,
    "kernel-hardware": kernels.kernel_hardware,
    "kernel-modules": kernelfront.kernel_modules,
    "kernel-unsigned": kernelfront.kernel_unsigned,
    "kernel-words-of-users": kernelfront.kernel_words_of_users,
    "kernel-cases": kernelfront.kernel_cases,
    "kernel-system": systems.kernel_system,
    "kernel-system-units": systems.kernel_system_units,
    "kernel-system-large": systems.kernel_system_large,
    "kernel-system-axi": systems.kernel_system_axi,
    "kernel-floats": kernels.kernel_floats,
    "kernel-parallel": kernels.kernel_parallel,
    "kernel-plans": kernels.kernel_plans,
    "kernel-cluster": kernelcluster.kernel_cluster,
    "kernel-drivers": kernelcluster.kernel_drivers,
    "kernel-steering": kernels.kernel_steering,
    "kernel-analysis": kernels.kernel_analysis,
    "kernel-refusals": kernels.kernel_refusals,
    "kernel-programs": kernels.kernel_programs,
    "kernel-parts": kernels.kernel_parts,
    "kernel-words": kernels.kernel_words,
    "kernel-all": allkernels.all_kernels,
    "random-kernels": randomkernels.random_kernels,  # SEED COUNT
    "kernel-library": kernels.kernel_library,
    "kernel-foreign": kernels.kernel_foreign,
    "kernel-host": kernelhost.kernel_host,
    "kernel-host-program": kernelhost.kernel_host_program,
    "kernel-systems": kernelsystems.kernel_systems,
    "kernel-howto": kernels.kernel_howto,
    "doctor": vendorflows.doctor,
    "bad-models": robustness.bad_models,
    "bad-options": robustness.bad_options,
    "refusals": robustness.refusals,
    "remedies": remedies.remedies,      # [all|KIND]
    "quantizers": quantizers.quantizers,
    "quantizers-rtl": quantizers.quantizers_rtl,
    "damaged-models": robustness.damaged_models,  # COUNT
}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    framework.rhizome_option(parser)
    parser.add_argument("--work", help="a folder to make and to work in; "
                                       "otherwise a temporary one")
    parser.add_argument("suite", choices=SUITES)
    parser.add_argument("arguments", nargs="*")
    options = parser.parse_args()
    return framework.execute(SUITES[options.suite], options.rhizome,
                             options.work, *options.arguments)


if __name__ == "__main__":
    sys.exit(main())
