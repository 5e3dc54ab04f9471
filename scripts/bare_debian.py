#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The README's tour on a bare Debian 12 that has the .deb and what it depends on
and recommends, and no source tree: every command of the README that begins with
rhizome, its output compared with what the README shows.

Root only. ROOT is a folder for the system, which debootstrap makes from the
mirror of this machine's apt if it is not there; a second run uses it again.
`make package` makes the .deb."""
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


def inside(root, command, **more):
    """Runs a line of shell in the system, with /proc and /dev."""
    enter = (f"mount -t proc proc {root}/proc && mount --rbind /dev {root}/dev && "
             f'exec chroot {root} env -i HOME=/opt LANG=C.UTF-8 '
             'PATH=/usr/sbin:/usr/bin:/sbin:/bin OMPI_ALLOW_RUN_AS_ROOT=1 '
             'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 sh -c "$0"')
    return subprocess.run(["unshare", "--mount", "bash", "-c", enter, command],
                          stdin=subprocess.DEVNULL, **more)


def prepare(root, deb):
    if not (root / "usr").exists():
        subprocess.run(["debootstrap", "--variant=minbase", "bookworm", root,
                        mirrors()["bookworm"]], check=True, stdout=subprocess.DEVNULL)
    for path in pathlib.Path("/etc/apt").glob("apt.conf.d/*"):
        shutil.copy(path, root / "etc/apt/apt.conf.d")
    shutil.copy("/etc/resolv.conf", root / "etc")
    (root / "etc/apt/sources.list").write_text("".join(
        f"deb {site} {suite} main\n" for suite, site in mirrors().items()))
    shutil.copy(deb, root / "opt/rhizome.deb")
    inside(root, "export DEBIAN_FRONTEND=noninteractive; apt-get update -q && "
           "apt-get install -qy --reinstall /opt/rhizome.deb",
           check=True, stdout=subprocess.DEVNULL)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("deb", type=pathlib.Path)
    parser.add_argument("root", type=pathlib.Path)
    options = parser.parse_args()
    root = options.root.resolve()
    prepare(root, options.deb)
    tour = root / "opt/tour"
    shutil.rmtree(tour, ignore_errors=True)
    tour.mkdir()
    (tour / "examples").symlink_to("/usr/share/rhizome/examples")
    failed = ran = 0
    for command, shown in pages.command_lines(TREE / "README.md"):
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
