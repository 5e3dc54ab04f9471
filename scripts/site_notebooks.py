# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tutorials of docs/tutorials as pages of the site: a hook of mkdocs that
runs each notebook and shows what it printed and drew. Cells with the tag `long`
are shown, but not run."""
import base64
import os
import pathlib
import shutil
import tempfile

import notebooks
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File
from nbclient.exceptions import CellExecutionError

ROOT = pathlib.Path(__file__).resolve().parents[1]


class Page(File):
    """A notebook that mkdocs takes as a page, so that links to it work here and
    where only the files are shown."""

    def is_documentation_page(self):
        return True


def on_files(files, config):
    os.environ.setdefault("RHIZOME_PROGRAM", str(ROOT / "build/bin/rhizome"))
    if not shutil.which(os.environ["RHIZOME_PROGRAM"]):
        raise PluginError("the tutorials run the program rhizome: build it "
                          "('make build'), or name it in RHIZOME_PROGRAM")
    for file in [f for f in files if f.src_uri.endswith(".ipynb")]:
        page = Page(file.src_uri, file.src_dir, file.dest_dir,
                    file.use_directory_urls)
        page.content_string = "\n\n".join(
            shown(ran(pathlib.Path(file.abs_src_path)), file.src_uri,
                  lambda name, data: files.append(File.generated(
                      config, name, content=data))))
        files.remove(file)
        files.append(page)
    return files


def ran(path):
    """The notebook after its cells have run, in a folder of their own."""
    os.environ["PYTHONPATH"] = str(ROOT / "python")
    with tempfile.TemporaryDirectory(prefix="rhizome-notebook-") as folder:
        try:
            return notebooks.executed(path, folder)
        except CellExecutionError as why:
            raise PluginError(f"{path}: {why}") from why


def shown(notebook, name, add):
    """The parts of the page in Markdown; `add` takes pictures."""
    for number, cell in enumerate(notebook.cells):
        if cell.cell_type == "markdown":
            yield cell.source
            continue
        yield f"```python\n{cell.source}\n```"
        text = "".join(output.text for output in cell.get("outputs", [])
                       if output.output_type == "stream")
        if text:
            yield f"```text\n{text.rstrip()}\n```"
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if "image/png" in data:
                picture = f"{name.removesuffix('.ipynb')}-{number}.png"
                add(picture, base64.b64decode(data["image/png"]))
                yield f"![]({picture.rpartition('/')[2]}){{.plot}}"
            elif "text/html" in data:
                yield f'<div class="output">{data["text/html"]}</div>'
            elif "text/plain" in data:
                yield f"```text\n{data['text/plain']}\n```"
