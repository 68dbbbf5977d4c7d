"""The page about inspections: its example gives the output that it shows."""

import re
from pathlib import Path

import pytest

from workbench.inspecting.formats import text
from workbench.inspecting.inspection import inspect
from workbench.inspecting.reading import read_files

PAGE = Path(__file__).parents[2] / "docs/inspect.md"
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_example_prints_what_the_page_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = [(language, body) for language, body in _BLOCK.findall(PAGE.read_text(encoding="utf-8"))]
    (manifests,) = [body for language, body in blocks if language == "yaml"]
    (shown,) = [body for language, body in blocks if body.startswith("$ workbench inspect --from cluster.yaml")]
    (tmp_path / "cluster.yaml").write_text(manifests)
    monkeypatch.chdir(tmp_path)
    snapshot, unreadable = read_files([Path("cluster.yaml")])
    assert text(inspect(snapshot, unreadable)) == shown.partition("\n")[2]
