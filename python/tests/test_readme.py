"""The Python code blocks of both READMEs and of the first page about forecasts run in order."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("page", ["README.md", "python/README.md", "docs/start-forecast.md"])
def test_python(page, tmp_path, monkeypatch, capsys):
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib").use("Agg")
    (tmp_path / "testdata").symlink_to(ROOT / "testdata")  # the blocks write their files here
    monkeypatch.chdir(tmp_path)
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = list(re.finditer(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    assert blocks
    names = {}
    for block in blocks:
        line = text.count("\n", 0, block.start()) + 1
        exec(compile("\n" * line + block[1], str(ROOT / page), "exec"), names)
    if page == "python/README.md":
        assert (tmp_path / "forecast.png").stat().st_size > 10_000
        assert "trend" in capsys.readouterr().out.splitlines()[-1]


def test_size():
    lines = (ROOT / "python/README.md").read_text(encoding="utf-8").splitlines()
    prose = re.sub(r"^```.*?^```$", "", "\n".join(lines), flags=re.MULTILINE | re.DOTALL).splitlines()
    assert len(lines) <= 120 and max(map(len, prose)) <= 140
