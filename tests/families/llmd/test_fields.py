"""Every field of the contract: it is in what is rendered, or it is refused or warned of; the controller gets each."""

from collections.abc import Iterator
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from components.contract.load import LoadedResource
from components.contract.problems import errors, field_path
from components.families import load
from components.fleet.levels import LatencyTargets, Load, ServiceClass, ServiceLevels
from components.fleet.options import Options
from components.fleet.words import Realization
from components.plan.environment import Environment
from components.plan.explain import explain
from components.plan.plan import Plan, plan
from tests.families.llmd.api.table import CONTRACT, KIND, FieldPath, Row, label, paths

DOCUMENTS = Path(__file__).with_name("data") / "fields.yaml"
REQUIRED = "only validated: is required"
ASKED = Load(Decimal(200), Decimal(178), least_per_minute=Decimal(60))
LEVELS = ServiceLevels(
    classes=(
        # ``smallx`` is what ``explain`` tries instead of ``small``.
        ServiceClass("Premium", 1, {"small": LatencyTargets(24, 500), "smallx": LatencyTargets(60, 2000)}),
        ServiceClass("Gold", 2, {"large": LatencyTargets(24, 500)}),
    ),
    loads={"chat": ASKED, "code": ASKED},
)


def fields() -> list[tuple[str, Row]]:
    """Return each field of the spec; of the accelerators it is that which counts."""
    return [(field_path(path), row) for path, row in paths() if path[0] == "spec" and len(path) > 1]


def test_the_walk_covers_the_contract() -> None:
    """Those left out are apiVersion, kind, metadata, spec, status, what is below it, and the list."""
    left = {label(row) for row in CONTRACT} - {label(row) for _, row in fields()}
    observed = {row["type"] for path, row in paths() if path[0] == "status" and len(path) > 1}
    top = {f"{KIND}.{field}" for field in ("apiVersion", "kind", "metadata", "spec", "status")}
    assert {name.partition(".")[0] for name in left - top} == {f"{KIND}List", *observed}
    assert len(fields()) == 11


@cache
def planned(how: Realization) -> Plan:
    manifests = load([DOCUMENTS])
    assert not manifests.problems
    options = Options(levels=LEVELS, realizations={"llmd": how})
    found = plan(manifests, Environment(options=options))
    assert not errors(found.problems), list(map(str, errors(found.problems)))
    return found


@cache
def became() -> dict[str, list[list[str]]]:
    """What each field of every variant became, or what is said of it, by path."""
    resources = load([DOCUMENTS]).resources
    rows: dict[str, list[list[str]]] = {}
    for subject in (each for each in resources if each.kind.kind == KIND):
        for row in explain(subject, resources, planned(Realization.NATIVE)):
            rows.setdefault(row.path, []).append([*row.became, *warnings(subject, row.path)])
    return rows


def warnings(subject: LoadedResource, path: str) -> Iterator[str]:
    """Yield what a field, or what it is a part of, is warned of."""
    for problem in planned(Realization.NATIVE).problems:
        if (problem.kind, problem.name) == (KIND, subject.name) and f"{path}.".startswith(f"{problem.path}."):
            yield problem.reason


@pytest.mark.parametrize(("place", "row"), fields(), ids=lambda value: value if isinstance(value, str) else "")
def test_a_field_is_rendered_refused_or_warned_of(place: str, row: Row) -> None:
    found = [lines for written, rows in became().items() if written.startswith(place) for lines in rows]
    assert found, f"nothing sets {label(row)}"
    assert any(not line.startswith(REQUIRED) for lines in found for line in lines), found


def test_nothing_is_silent() -> None:
    assert [(path, rows) for path, rows in became().items() if not all(rows)] == []


NUMBERS: dict[str, tuple[str, str]] = {
    "alpha": ('alpha: "20.58"', 'alpha: "22.58"'),
    "beta": ('beta: "0.41"', 'beta: "0.81"'),
    "maxBatchSize": ("maxBatchSize: 4}", "maxBatchSize: 2}"),
    "modelID": ("modelID: small", "modelID: smallx"),
}


@pytest.mark.parametrize("field", NUMBERS)
def test_another_number_makes_another_autoscaler(field: str, tmp_path: Path) -> None:
    """What a replica can take follows from each of them (WVA spec 8)."""
    text = DOCUMENTS.read_text()
    assert NUMBERS[field][0] in text
    (tmp_path / "m.yaml").write_text(text.replace(*NUMBERS[field], 1))
    options = Options(levels=LEVELS)
    other = plan(load([tmp_path]), Environment(options=options))
    assert not errors(other.problems), list(map(str, errors(other.problems)))
    assert _autoscaler(other) != _autoscaler(planned(Realization.NATIVE))


def _autoscaler(found: Plan) -> Any:
    (scaler,) = (s for item, s in found.fleet.autoscalers if (item.kind, item.name) == (KIND, "chat"))
    return scaler.hpa["spec"]


@pytest.mark.parametrize("name", ["chat", "code"])
def test_the_controller_gets_each_of_them(name: str) -> None:
    """With realization operator the resource is created as it is written."""
    (source,) = (each for each in load([DOCUMENTS]).resources if (each.kind.kind, each.name) == (KIND, name))
    (item,) = (
        each for each in planned(Realization.OPERATOR).fleet.rendered if (each.kind, each.name) == (KIND, name)
    )
    (body,) = (each for each in item.objects if each["kind"] == KIND)
    written = source.resource.wire()
    assert body["spec"] == written["spec"]
    assert body["metadata"] == {**written["metadata"], "namespace": "default"}
    for path, _ in paths():
        if path[0] == "spec":
            assert _at(body, path) is not None


def _at(value: Any, path: FieldPath) -> Any:
    for part in path:
        value = value[part]
    return value
