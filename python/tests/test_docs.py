# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The Python code of the documentation runs, block after block."""
import pathlib
import re

import pytest

import rhizome

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Statements that need a board, a file of the reader's own, or a kernel that the
# page compiles before (e2e.kernel-howto runs these).
ELSEWHERE = re.compile(r"/dev/tty|\bnet\.onnx|torch_mlir|\bnetwork\.eval|"
                       r"^import (?:chain|conv3d|stencil)\b", re.M)


def blocks(page):
    """The indented blocks that hold Python, and the fenced ones that say so."""
    text = page.read_text()
    for block in re.findall(r"(?:^(?: {4}.*)?\n)+", text, re.M):
        code = re.sub(r"^ {4}", "", block, flags=re.M).strip()
        if re.search(r"^import rhizome|\brhizome\.\w+\(|"
                     r"^(package|plan|quantized)\.", code, re.M):
            yield code
    yield from (code for code in re.findall(r"^```python\n(.*?)^```", text,
                                            re.M | re.S)
                if not ELSEWHERE.search(code))


PAGES = sorted(page for page in [ROOT / "README.md", *ROOT.glob("docs/**/*.md")]
               if any(blocks(page)))


def test_the_page_for_python_is_among_them():
    assert ROOT / "docs/howto/use-from-python.md" in PAGES


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_code_of(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(rhizome.examples())
    names = {}
    for code in blocks(page):
        code = "\n".join(line for line in code.splitlines()
                         if not ELSEWHERE.search(line))
        exec(compile(code, str(page), "exec"), names)
