"""Run the notebooks. `python tests/test_notebooks.py [NAME …]` regenerates their outputs."""

import os
import re
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "notebooks"
NAMES = ["forecast", "regression", "repair"]
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"file_extension": ".py", "mimetype": "text/x-python", "name": "python"},
}
MAX_BYTES = 400_000  # maximum size of a notebook


def executed(name):
    """Execute a notebook and remove all outputs that differ between runs, except figures."""
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    book = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    env = {k: v for k, v in os.environ.items() if k != "MPLBACKEND"}  # the default backend of the kernel shows figures
    client = nbclient.NotebookClient(
        book, timeout=120, kernel_name="python3", record_timing=False, resources={"metadata": {"path": str(FOLDER)}}
    )
    client.execute(env=env)
    book.metadata = nbformat.from_dict(METADATA)
    for i, cell in enumerate(book.cells):
        cell.id, cell.metadata = f"{name}-{i}", nbformat.from_dict({})
        if cell.cell_type == "code":
            cell.outputs = joined(o for o in map(plain, cell.outputs) if o is not None)
    nbformat.validate(book)
    return book


def plain(output):
    """Remove progress, audio and memory addresses from an output. Return None if nothing remains."""
    if output.get("name") == "stderr" and "\r" in output["text"]:
        return None
    data = output.get("data", {})
    if "<audio" in data.get("text/html", ""):
        data["text/html"] = "<em>audio player; run the cell to listen</em>"
    if "text/plain" in data:
        data["text/plain"] = re.sub(r" at 0x[0-9a-f]+", "", data["text/plain"])
    return output


def joined(outputs):
    """Join consecutive outputs of the same stream, because their number differs between runs."""
    kept = []
    for o in outputs:
        if kept and o.output_type == kept[-1].output_type == "stream" and o.name == kept[-1].name:
            kept[-1].text += o.text
        else:
            kept.append(o)
    return kept


@pytest.mark.parametrize("name", NAMES)
def test_runs(name):
    """All cells run without errors and have the same types of outputs as in the committed notebook."""
    nbformat = pytest.importorskip("nbformat")
    kept, now = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4), executed(name)

    def kinds(book):
        return [[(o.output_type, sorted(o.get("data", ()))) for o in c.get("outputs", ())] for c in book.cells]

    assert kinds(kept) == kinds(now) and kept.metadata == now.metadata
    assert not any(o.get("name") == "stderr" for c in now.cells for o in c.get("outputs", ()))
    assert len(nbformat.writes(now).encode()) < MAX_BYTES


def test_all():
    assert sorted(NAMES) == sorted(path.stem for path in FOLDER.glob("*.ipynb"))


if __name__ == "__main__":
    import nbformat

    for name in sys.argv[1:] or NAMES:
        nbformat.write(executed(name), FOLDER / f"{name}.ipynb")
