"""The page about inspections: its example gives the output that it shows."""

import re
from pathlib import Path

from workbench.inspecting.formats import text
from workbench.inspecting.inspection import inspect
from workbench.inspecting.reading import read_files

PAGE = Path(__file__).parents[2] / "docs/inspect.md"
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_example_has_the_findings_that_the_page_shows(tmp_path: Path) -> None:
    blocks = [(language, body) for language, body in _BLOCK.findall(PAGE.read_text(encoding="utf-8"))]
    (manifests,) = [body for language, body in blocks if language == "yaml"]
    (shown,) = [body for language, body in blocks if body.startswith("$ workbench inspect --from cluster.yaml")]
    (tmp_path / "cluster.yaml").write_text(manifests)
    snapshot, unreadable = read_files([tmp_path / "cluster.yaml"])
    found = " ".join(text(inspect(snapshot, unreadable)).split())
    parts = shown.partition("\n")[2].split("\n...\n")
    assert len(parts) == 2
    for part in parts:
        assert " ".join(part.split()) in found
