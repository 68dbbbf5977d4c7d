"""The page about llmaz: its table of releases is that of the data, and no later release lacks its changes."""

import csv
import re

import pytest
import yaml

from components.families.llmaz.kinds import RELEASES
from components.families.llmaz.migration import steps
from components.families.llmaz.operator import PINNED
from tests.documentation.blocks import ROOT

PAGE = (ROOT / "docs/llmaz.md").read_text(encoding="utf-8")
NAMES = RELEASES.names
FIELDS = list(
    csv.DictReader((ROOT / "tests/families/llmaz/data/releases.csv").read_text(encoding="utf-8").splitlines()[1:])
)


def tables(heading: str) -> list[list[list[str]]]:
    """The cells of the tables whose head starts with a word, without the heads."""
    found = []
    for part in PAGE.split(f"\n| {heading} |")[1:]:
        lines = part.partition("\n\n")[0].splitlines()[2:]
        found.append([[cell.strip() for cell in line.strip("|").split("|")] for line in lines])
    return found


def test_the_table_of_releases_is_that_of_the_data() -> None:
    examples = list(csv.DictReader((ROOT / "tests/upstream/data/llmaz.csv").read_text(encoding="utf-8").splitlines()))
    expected = []
    for place, release in enumerate(RELEASES.releases):
        verdicts = [
            row["verdict"] for row in examples if NAMES.index(row["since"]) <= place <= NAMES.index(row["until"])
        ]
        accepted = f"{verdicts.count('accepted')} of {len(verdicts)} accepted"
        expected.append([release.name, str(release.date), release.operator or "", accepted])
    assert tables("release")[0] == expected


@pytest.mark.parametrize("place", range(1, len(NAMES)))
def test_fields_that_a_release_adds_or_drops_are_named(place: int) -> None:
    before, release = NAMES[place - 1], NAMES[place]
    (said,) = (text for name, text in tables("release")[1] if name == release)
    changed = {row["path"] for row in FIELDS if row["since"] == release or row["until"] == before}
    # What is below a changed field changes with it.
    top = {
        path
        for path in changed
        if not any(path.startswith((f"{each}.", f"{each}[", f"{each}{{")) for each in changed)
    }
    assert not {path for path in top if path.rpartition(".")[2] not in said}


def test_the_operator_without_a_release_is_the_pinned_one() -> None:
    (chart,) = (release.operator for release in RELEASES.releases if release.name == PINNED)
    assert f"`realization: operator` installs chart {chart}" in PAGE
    charts = yaml.safe_load((ROOT / "components/plan/prerequisites/charts.yaml").read_text(encoding="utf-8"))
    assert charts["llmaz"]["version"] == chart


def test_every_step_of_the_migration_is_described() -> None:
    (table,) = tables("conversion")
    described = {release for cells in table for release in re.findall(r"v[\d.]+|[\da-f]{7}", cells[0])}
    assert all({step.before, step.after} & described for step in steps())
