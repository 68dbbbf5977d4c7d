"""The page about Kthena has the table of releases as it is generated, and that of deviations every defect."""

import re

from tests.documentation.blocks import ROOT
from tests.families.kthena.page import HEAD, PAGE, table

DEVIATIONS = (ROOT / "docs/deviations.md").read_text(encoding="utf-8")


def test_the_table_is_generated_from_the_data() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    start = lines.index(HEAD)
    assert lines[start : start + len(table())] == table(), "run python -m tests.families.kthena.page"
    assert not lines[start + len(table())].startswith("|")


def test_every_defect_that_is_reported_has_its_releases() -> None:
    section = DEVIATIONS.partition("### Releases with a defect")[2].partition("\n### ")[0]
    sources = (ROOT / "components/families/kthena").rglob("operator*.py")
    reported = {number for path in sources for number in re.findall(r"D-\d\d", path.read_text(encoding="utf-8"))}
    assert reported - set(re.findall(r"D-\d\d", section)) == set()
