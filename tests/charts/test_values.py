"""Our values against what is recorded of the charts: each path is known, of the chart's type, and none is unused."""

from typing import Any

import pytest

from components.plan.prerequisites.charts import ChartValue, chart_values, charts
from tests.charts.environments import ENVIRONMENTS, releases
from tests.charts.variants import VARIANTS, leaves, values

TYPES = {"bool": bool, "int": int, "str": str, "list": list, "dict": dict}


def problems(chart: str, found: dict[str, Any]) -> list[str]:
    """What a chart would ignore or misread, by path."""
    known = chart_values()[chart].by_path
    listed = []
    for path, value in leaves(found):
        here = ".".join(path)
        if here not in known:
            listed.append(f"{here}: {chart} has no such value")
        elif type(value) is not TYPES[known[here].type]:
            listed.append(f"{here}: {chart} takes {known[here].type}, found {value!r}")
    return listed


@pytest.mark.parametrize(("chart", "choice"), VARIANTS)
def test_each_value_is_known_to_the_chart_and_of_its_type(chart: str, choice: str) -> None:
    assert problems(chart, values(chart, choice)) == []


@pytest.mark.parametrize("stack", ENVIRONMENTS)
def test_so_is_each_value_of_the_shipped_environments(stack: str) -> None:
    found = releases(stack)
    assert found
    assert [problem for chart, given in found.items() for problem in problems(chart, given)] == []


@pytest.mark.parametrize("chart", charts())
def test_no_recorded_value_is_unused(chart: str) -> None:
    used = {path for name, choice in VARIANTS if name == chart for path, _ in leaves(values(chart, choice))}
    assert {".".join(path) for path in used} == set(chart_values()[chart].by_path)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"replica": 2}, "replica: metrics-server has no such value"),
        ({"replicas": "2"}, "replicas: metrics-server takes int, found '2'"),
        ({"replicas": True}, "replicas: metrics-server takes int, found True"),
        ({"replicas": {}}, "replicas: metrics-server takes int, found {}"),
        ({"replicas": {"min": 2}}, "replicas.min: metrics-server has no such value"),
    ],
)
def test_what_the_chart_does_not_know_is_found(wrong: dict[str, Any], said: str) -> None:
    assert problems("metrics-server", wrong) == [said]


@pytest.mark.parametrize("chart", charts())
def test_the_values_were_read_in_the_version_that_is_pinned(chart: str) -> None:
    assert chart_values()[chart].version == charts()[chart].version
    assert chart_values()[chart].source


def test_values_are_recorded_for_every_chart_and_no_other() -> None:
    assert set(chart_values()) == set(charts())


@pytest.mark.parametrize(
    ("chart", "path", "value"),
    [(chart, path, value) for chart, known in chart_values().items() for path, value in known.by_path.items()],
)
def test_every_record_is_whole(chart: str, path: str, value: ChartValue) -> None:
    assert value.type in TYPES
    assert value.why
    assert not (value.schema and value.default is not None), (
        "a default is of the values file, a schema of something else"
    )
