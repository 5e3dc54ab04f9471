#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/start/tour.md on a bare Debian 12 without a source tree: every command of
the page that begins with rhizome, its output compared with what the page shows.
PACKAGE is the .deb, installed with what it depends on and recommends; or the
wheel, installed into a virtual environment beside the tools that it calls.

Root only. ROOT is a folder for the system, which debootstrap makes from the
mirror of this machine's apt if it is not there; a second run uses it again.
`make package` and `make wheel` make the packages."""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import time

TREE = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TREE / "test/e2e"))
import pages  # noqa: E402


def mirrors():
    """{suite: site} of Debian 12 and its updates, as this machine's apt has them."""
    listed = subprocess.run(["apt-get", "indextargets", "--format", "$(SITE) "
                             "$(CODENAME)", "Identifier: Packages"],
                            capture_output=True, text=True, check=True).stdout
    found = {name: site for site, name in map(str.split, listed.splitlines())
             if name.startswith("bookworm")}
    if "bookworm" not in found:
        sys.exit("apt of this machine has no source with bookworm")
    return found


# What the .deb recommends, for the wheel.
TOOLS = ("python3-venv verilator make g++ iverilog yosys nextpnr-ice40 "
         "fpga-icestorm node-d3 openmpi-bin")
WHEEL = "/opt/venv/lib/python3.11/site-packages/rhizome/install"


def inside(root, command, **more):
    """Runs a line of shell in the system, with /proc and /dev."""
    enter = (f"mount -t proc proc {root}/proc && mount --rbind /dev {root}/dev && "
             f'exec chroot {root} env -i HOME=/opt LANG=C.UTF-8 '
             'PATH=/opt/venv/bin:/usr/sbin:/usr/bin:/sbin:/bin '
             'OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 '
             'sh -c "$0"')
    return subprocess.run(["unshare", "--mount", "bash", "-c", enter, command],
                          stdin=subprocess.DEVNULL, **more)


def prepare(root, package):
    """Returns where the examples are."""
    if not (root / "usr").exists():
        subprocess.run(["debootstrap", "--variant=minbase", "bookworm", root,
                        mirrors()["bookworm"]], check=True,
                       stdout=subprocess.DEVNULL)
    for path in pathlib.Path("/etc/apt").glob("apt.conf.d/*"):
        shutil.copy(path, root / "etc/apt/apt.conf.d")
    # The registries as this machine reaches them.
    for name in ("etc/resolv.conf", "etc/pip.conf",
                 "etc/ssl/certs/ca-certificates.crt"):
        if pathlib.Path("/", name).exists():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(pathlib.Path("/", name), root / name)
    (root / "etc/apt/sources.list").write_text("".join(
        f"deb {site} {suite} main\n" for suite, site in mirrors().items()))
    shutil.copy(package, root / "opt")
    file = f"/opt/{package.name}"
    shutil.rmtree(root / "opt/venv", ignore_errors=True)
    is_wheel = package.suffix == ".whl"
    install = (f"apt-get purge -qy rhizome; apt-get install -qy {TOOLS} && "
               f"python3 -m venv /opt/venv && pip install -q {file}"
               if is_wheel else f"apt-get install -qy --reinstall {file}")
    inside(root, "export DEBIAN_FRONTEND=noninteractive; apt-get update -q; "
           + install, check=True, stdout=subprocess.DEVNULL)
    return f"{WHEEL if is_wheel else '/usr'}/share/rhizome/examples"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("package", type=pathlib.Path)
    parser.add_argument("root", type=pathlib.Path)
    options = parser.parse_args()
    root = options.root.resolve()
    examples = prepare(root, options.package)
    tour = root / "opt/tour"
    shutil.rmtree(tour, ignore_errors=True)
    tour.mkdir()
    (tour / "examples").symlink_to(examples)
    failed = ran = 0
    for command, shown in pages.command_lines(TREE / "docs/start/tour.md"):
        if not re.match(r"rhizome ", command) or shown is None:
            continue
        began = time.time()
        result = inside(root, f"cd ~/tour && {command}", text=True,
                        capture_output=True)
        output = result.stdout + result.stderr
        wanted = 1 if shown and shown[0].startswith("error:") else 0
        wrong = pages.agrees(shown, output)
        good = result.returncode == wanted and not wrong
        ran += 1
        failed += not good
        print("ok   " if good else "FAIL ", f"{time.time() - began:6.1f} s ",
              command, flush=True)
        if not good:
            print(f"  status {result.returncode}"
                  + (f", not printed: {wrong}" if wrong else "") + "\n" + output)
    print(f"{ran} commands, {failed} failed")
    return 1 if failed or not ran else 0


if __name__ == "__main__":
    sys.exit(main())
