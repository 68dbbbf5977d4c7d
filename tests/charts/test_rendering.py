"""Each pinned chart takes our values, all of them, and brings the kinds that the catalog says."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from components.plan.prerequisites.charts import chart_values, charts
from tests.charts.environments import ENVIRONMENTS, releases
from tests.charts.rendering import (
    FOLDER,
    HELM,
    Helm,
    NotAtHandError,
    RefusedError,
    Rendered,
    helm_for,
    newest_kubernetes,
    numbers,
    oldest_kubernetes,
    settled,
)
from tests.charts.variants import USUAL, VARIANTS, at, leaves, values

Find = Callable[[str], Helm]
Render = Callable[..., Rendered]
NOTHING = object()


def of_values_file(found: dict[str, Any], path: tuple[str, ...]) -> Any:
    try:
        return at(found, path)
    except KeyError:
        return NOTHING


@pytest.mark.parametrize("chart", charts())
class TestEach:
    def test_the_copy_is_the_chart_that_is_pinned(self, chart: str, helm: Find) -> None:
        found, pin = helm(chart).show("chart"), charts()[chart]
        assert found["name"] == pin.chart.rpartition("/")[2]
        assert str(found["version"]).removeprefix("v") == pin.version.removeprefix("v")

    def test_the_lowest_kubernetes_is_the_charts(self, chart: str, helm: Find) -> None:
        asked = helm(chart).show("chart").get("kubeVersion", "")
        lowest = asked.replace(" ", "").removeprefix(">=").removeprefix("v").removesuffix("-0")
        assert not asked or numbers(lowest)[:2] == numbers(charts()[chart].kubernetes)

    def test_recorded_defaults_are_those_of_its_values_file(self, chart: str, helm: Find) -> None:
        file = helm(chart).show("values")
        for path, value in chart_values()[chart].by_path.items():
            expected = NOTHING if value.schema else value.default
            assert of_values_file(file, tuple(path.split("."))) == expected, path

    def test_it_takes_our_values_in_the_oldest_kubernetes_too(self, chart: str, helm: Find) -> None:
        kubernetes = max(oldest_kubernetes(), charts()[chart].kubernetes or "1.0", key=numbers)
        assert numbers(kubernetes) <= numbers(newest_kubernetes())
        rendered = helm(chart).render(values(chart), kubernetes)
        assert rendered.objects

    def test_the_kinds_that_it_brings_are_those_of_the_catalog(self, chart: str, rendered: Render) -> None:
        found = {body["spec"]["group"] for body in rendered(chart).of("CustomResourceDefinition")}
        assert found == set(charts()[chart].crds)

    def test_what_is_named_after_an_api_is_served(self, chart: str, rendered: Render) -> None:
        """What a chart provides is an API group that it registers, or a word of ours."""
        objects = rendered(chart)
        served = {
            body["spec"]["group"] for body in (*objects.of("APIService"), *objects.of("CustomResourceDefinition"))
        }
        named = {thing for thing in charts()[chart].provides if thing.endswith((".k8s.io", "x-k8s.io", "volcano.sh"))}
        assert named <= served

    def test_every_api_service_has_its_service(self, chart: str, rendered: Render) -> None:
        objects = rendered(chart)
        for api in objects.of("APIService"):
            target = api["spec"]["service"]
            service = objects.one("Service", target["name"])
            assert service["metadata"]["namespace"] == target["namespace"]
            assert target.get("port", 443) in [port["port"] for port in service["spec"]["ports"]]


@pytest.mark.parametrize(("chart", "choice"), VARIANTS)
def test_it_takes_our_values(chart: str, choice: str, rendered: Render) -> None:
    for body in rendered(chart, choice).objects:
        assert body["apiVersion"]
        assert body["kind"]
        assert body["metadata"]["name"]


@pytest.mark.parametrize("stack", ENVIRONMENTS)
def test_so_it_does_those_of_the_shipped_environments(stack: str, helm: Find) -> None:
    found = releases(stack)
    assert found
    for chart, given in found.items():
        assert helm(chart).render(given).objects, chart


def changed(value: Any) -> Any:
    """Another value of the same type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, str):
        return f"{value}0"
    return [] if value else [{}]


def outcome(helm: Helm, given: dict[str, Any]) -> Any:
    """What comes of it; a chart that refuses has read the value as well."""
    try:
        return settled(helm.render(given))
    except RefusedError as error:
        return str(error)


@pytest.mark.parametrize(
    ("chart", "path"), [(chart, path) for chart in charts() for path, _ in leaves(values(chart))]
)
def test_no_value_is_ignored(chart: str, path: tuple[str, ...], helm: Find, rendered: Render) -> None:
    other = values(chart)
    at(other, path[:-1])[path[-1]] = changed(at(other, path))
    assert outcome(helm(chart), other) != settled(rendered(chart))


@pytest.mark.parametrize("chart", charts())
def test_the_same_values_give_the_same_objects(chart: str, helm: Find, rendered: Render) -> None:
    """Else the test above would see a difference where there is none."""
    assert outcome(helm(chart), values(chart)) == settled(rendered(chart))


def test_a_value_that_a_chart_does_not_have_is_seen_to_be_ignored(helm: Find, rendered: Render) -> None:
    unknown = {**values("metrics-server"), "replicaCount": 3}
    assert outcome(helm("metrics-server"), unknown) == settled(rendered("metrics-server"))


class TestAtHand:
    def test_no_folder(self) -> None:
        with pytest.raises(NotAtHandError, match=FOLDER):
            helm_for("keda", {})

    def test_no_helm(self, tmp_path: Path) -> None:
        with pytest.raises(NotAtHandError, match=HELM):
            helm_for("keda", {FOLDER: str(tmp_path), "PATH": ""})

    def test_no_copy(self, tmp_path: Path) -> None:
        with pytest.raises(NotAtHandError, match=r"no copy of keda .* keda-2\.21\.0\.tgz"):
            helm_for("keda", {FOLDER: str(tmp_path), HELM: "/bin/false"})

    @pytest.mark.parametrize("name", ["prometheus", "prometheus.tgz", "kube-prometheus-stack-88.5.3.tgz"])
    def test_a_copy_under_any_of_its_names(self, name: str, tmp_path: Path) -> None:
        (tmp_path / name).touch()
        assert helm_for("prometheus", {FOLDER: str(tmp_path), HELM: "/bin/false"}).copy == tmp_path / name

    def test_what_helm_refuses_is_said(self, tmp_path: Path) -> None:
        (tmp_path / "keda").mkdir()
        with pytest.raises(RefusedError):
            helm_for("keda", {FOLDER: str(tmp_path), HELM: "/bin/false"}).render({})


def test_a_choice_that_is_usual_is_there_for_every_chart() -> None:
    assert {chart for chart, choice in VARIANTS if choice == USUAL} == set(charts())
