"""Every field of Kthena's contract: it is in what is rendered, or it is refused or warned about.

Natively: with realization operator each field is in the object that is left to the controllers.
"""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from components.contract.load import LoadedResource
from components.contract.problems import errors
from components.families import load
from components.plan.explain import explain
from components.plan.plan import Plan, plan
from tests.families.kthena.api.table import CONTRACT, KINDS, FieldPath, Row, fields_of, label
from tests.layers.modules import ROOT

DOCUMENTS = ROOT / "components/families/kthena/samples/fields.yaml"
INDEX = re.compile(r"\[\d+\]")
REQUIRED = "only validated: is required"
CHANGED = {
    "AutoscalingPolicyMetric.metricName": ("kthena:num_requests_waiting", "vllm:num_requests_running"),
}
"""Fields that must be there, and whose name is another in what they become: another value makes another object."""


def fields() -> list[tuple[str, str, Row]]:
    """Return each field of each kind, once for each type that it is of; of the ways of a text to match any counts."""
    return [
        (kind, f"{kind}.{_place(path)}", row)
        for kind in KINDS
        for path, row in fields_of(kind)
        if row["type"] != "StringMatch" or "headers" in path
    ]


def _place(path: FieldPath) -> str:
    """Return a path as ``explain`` has it, without indices; ``*`` stands for any key."""
    return re.sub(r"headers\.a\b", "headers.*", ".".join(part for part in path if isinstance(part, str)))


def test_the_walk_covers_the_specification() -> None:
    """Those left out are apiVersion, kind, metadata, spec, status, what is below it, and lists."""
    left = {label(row) for row in CONTRACT} - {label(row) for _, _, row in fields()}
    top = {f"{kind}.{field}" for kind in KINDS for field in ("apiVersion", "kind", "metadata", "status")}
    assert all(name in top or "Status." in name or "List." in name for name in left), left
    assert len(fields()) > 180


@cache
def planned() -> Plan:
    manifests = load([DOCUMENTS])
    assert not manifests.problems
    found = plan(manifests)
    assert not errors(found.problems), list(map(str, errors(found.problems)))
    return found


@cache
def became() -> dict[str, list[tuple[str, list[str]]]]:
    """What each field of every document became, and what it is warned of, by kind and path without indices."""
    resources, found = load([DOCUMENTS]).resources, planned()
    rows: dict[str, list[tuple[str, list[str]]]] = {}
    for subject in resources:
        for row in explain(subject, resources, found):
            lines = [*row.became, *warnings(subject, row.path)]
            rows.setdefault(f"{subject.resource.kind}.{INDEX.sub('', row.path)}", []).append((row.path, lines))
    return rows


def warnings(subject: LoadedResource, path: str) -> Iterator[str]:
    """Yield what a field is warned of, or what it is a part of: ``explain`` tells that at the first part alone."""
    own = subject.resource.kind, subject.name
    for problem in (each for each in planned().problems if each.path and (each.kind, each.name) == own):
        if path == problem.path or path.startswith((f"{problem.path}.", f"{problem.path}[")):
            yield problem.reason


def of(place: str) -> list[tuple[str, list[str]]]:
    pattern = re.compile(re.escape(place).replace(r"\*", "[a-z]+") + r"([.\[]|\Z)")
    return [row for written, rows in became().items() if pattern.match(written) for row in rows]


@pytest.mark.parametrize(("kind", "place", "row"), fields(), ids=lambda value: value if "." in value else "")
def test_a_field_is_rendered_refused_or_warned_about(kind: str, place: str, row: Row) -> None:
    found = of(place)
    assert found, f"no {kind} sets it"
    if label(row) not in CHANGED:
        assert any(not line.startswith(REQUIRED) for _, lines in found for line in lines), found


@pytest.mark.parametrize(("name", "change"), CHANGED.items())
def test_another_value_makes_another_object(name: str, change: tuple[str, str], tmp_path: Path) -> None:
    before, _, after = DOCUMENTS.read_text().rpartition(change[0])
    (tmp_path / "m.yaml").write_text(f"{before}{change[1]}{after}")
    other = plan(load([tmp_path]))
    assert not errors(other.problems)
    usual = [item.objects for item in planned().fleet.rendered]
    assert [item.objects for item in other.fleet.rendered] != usual


def test_nothing_is_silent() -> None:
    """Nothing that a document sets is without effect, reason or warning."""
    assert [(path, place) for place, rows in became().items() for path, lines in rows if not lines] == []
