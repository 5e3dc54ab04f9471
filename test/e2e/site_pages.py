# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The documentation as a site: it builds without a warning, its tutorials run,
it loads nothing from elsewhere, and the Python API is complete. pages.py runs
its commands."""
import os
import pathlib
import re
import sys

from framework import needed, run_program

ROOT = pathlib.Path(__file__).resolve().parents[2]


def site(suite):
    needed("mkdocs")
    needed("nbclient")
    needed("matplotlib")
    # Of the tutorials, which run while their pages are made.
    os.environ["RHIZOME_PROGRAM"] = str(suite.rhizome)
    out = suite.work / "site"
    os.environ["NO_MKDOCS_2_WARNING"] = "1"
    built = run_program([sys.executable, "-m", "mkdocs", "build", "--strict",
                         "--quiet", "-f", ROOT / "mkdocs.yml", "-d", out])
    if not suite.check(built.status == 0 and "WARN" not in built.err,
                       "mkdocs build --strict", built.command):
        print(built.message)
        return
    pages = sorted(out.rglob("*.html"))
    suite.check(len(pages) > 40, f"{len(pages)} pages")
    loads = re.compile(r'<(?:script|img|iframe)[^>]*src="(https?:)?//|'
                       r'<link[^>]*rel="(?:stylesheet|preload|preconnect)"'
                       r'[^>]*href="(https?:)?//')
    outside = [p.name for p in pages if loads.search(p.read_text())]
    suite.check(not outside, f"pages load nothing from elsewhere: {outside}")
    sys.path.insert(0, str(ROOT / "python"))
    import rhizome
    api = (out / "reference/python.html").read_text()
    missing = [n for n in rhizome.__all__ if f'id="rhizome.{n}"' not in api]
    suite.check(not missing, f"the Python API is complete: {missing}")
    for page in sorted((ROOT / "docs/tutorials").glob("*.ipynb")):
        text = (out / f"tutorials/{page.stem}.html").read_text()
        suite.check('class="output"' in text and (
            ".png" in text or page.stem == "icebreaker"),
            f"{page.stem}: tables and pictures")
