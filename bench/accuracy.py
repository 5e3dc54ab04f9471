#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The MNIST networks of the shared models on all 10,000 test images: as in their
files, next to the count of another implementation, and the float ones
quantized after training to 8, 6 and 4 bits with the output's signal-to-noise
ratio on the calibration frames (the first 200 images). Writes Markdown."""
import argparse
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]
                       / "test/e2e"))
import framework  # noqa: E402
import trained  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    framework.rhizome_option(parser)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    suite = framework.Suite(options.rhizome, tempfile.mkdtemp())
    rows = ["| network | checked % | as the file says | 8 bits | 6 bits "
            "| 4 bits |", "|---|---|---|---|---|---|"]
    for name in options.names or trained.MNIST:
        network = trained.MNIST[name]
        try:
            percent = trained.checked(suite, name)
        except framework.Skip as why:
            suite.skip(str(why))
            continue
        cells = [name, f"{network.checked:.2f}", f"{percent:.2f}"]
        for bits in (8, 6, 4):
            cells.append("")
            if network.calibrated:
                found, snr = trained.quantized(suite, name, bits, percent)
                cells[-1] = f"{found:.2f} ({snr:.0f} dB)"
        rows.append("| " + " | ".join(cells) + " |")
    print("\n".join(rows))
    return 1 if suite.failures else 0


if __name__ == "__main__":
    sys.exit(main())
