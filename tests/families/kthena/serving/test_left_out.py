"""What natively differs without a field that says so: schedulers of groups, and labels that pods lack."""

from typing import Any

import pytest

from components.families import objects as loaded
from components.fleet.options import Options
from components.fleet.words import Realization
from components.plan.rendering import render_fleet
from tests.families.kthena.booster.support import backend, booster, pair, worker
from tests.families.kthena.serving.support import LABEL, Object, engine, model_serving, pods, role, warned
from tests.fleets import fleet_of, warnings

ENTRY = "spec.template.roles[0].entryTemplate.spec"
ONE = f"metadata.labels['{LABEL}/group-name']"
NOT_IN_SETS = [f"metadata.labels['{LABEL}/{name}']" for name in ("group-name", "role-id")]
NOWHERE = [
    f"metadata.labels['{LABEL}/revision']",
    f"metadata.labels['{LABEL}/role-template-hash']",
    "metadata.annotations['scheduling.k8s.io/group-name']",
    "metadata.annotations['volcano.sh/task-spec']",
]
PRESENT = [f"metadata.labels['{LABEL}/{name}']" for name in ("name", "role", "entry")] + ["status.podIP"]


def variable(field: str) -> Object:
    return engine(env=[{"name": "X", "valueFrom": {"fieldRef": {"fieldPath": field}}}])


def told_of(field: str, *others: Object, **template: Any) -> list[str]:
    """The fields with a warning that they are empty, of a container with a variable with a field of its pod."""
    first = role("a", entryTemplate=pods(variable(field)))
    found = warned(model_serving("ms", first, *others, template=template))
    return [path for path, reason in found.items() if "is empty natively" in reason]


VARIABLE = f"{ENTRY}.containers[0].env[0].valueFrom.fieldRef.fieldPath"


@pytest.mark.parametrize("field", NOT_IN_SETS)
def test_labels_that_differ_between_groups_of_one_set_are_empty(field: str) -> None:
    assert told_of(field) == [VARIABLE]
    assert told_of(field, role("b")) == []


@pytest.mark.parametrize("field", NOWHERE)
def test_what_no_pod_has_is_empty(field: str) -> None:
    assert told_of(field) == [VARIABLE]
    assert told_of(field, role("b")) == [VARIABLE]


@pytest.mark.parametrize("field", PRESENT)
def test_what_pods_have_is_not_told(field: str) -> None:
    assert told_of(field) == []


def test_pods_of_a_gang_have_its_annotations() -> None:
    assert told_of("metadata.annotations['scheduling.k8s.io/group-name']", role("b"), gangPolicy={}) == []


def test_every_place_of_a_pod_that_names_a_field() -> None:
    items = {"items": [{"path": "x", "fieldRef": {"fieldPath": ONE}}]}
    volumes = [
        {"name": "v", "downwardAPI": items},
        {"name": "w", "projected": {"sources": [{"downwardAPI": items}]}},
    ]
    template = pods(engine(), initContainers=[{**variable(ONE), "name": "i"}], volumes=volumes)
    found = warned(model_serving("ms", role("a", 1, entryTemplate=template, workerTemplate=pods(variable(ONE)))))
    worker_pod = "spec.template.roles[0].workerTemplate.spec"
    assert {path for path, reason in found.items() if "is empty natively" in reason} == {
        f"{ENTRY}.initContainers[0].env[0].valueFrom.fieldRef.fieldPath",
        f"{ENTRY}.volumes[0].downwardAPI.items[0].fieldRef.fieldPath",
        f"{ENTRY}.volumes[1].projected.sources[0].downwardAPI.items[0].fieldRef.fieldPath",
        f"{worker_pod}.containers[0].env[0].valueFrom.fieldRef.fieldPath",
    }


@pytest.mark.parametrize(
    ("release", "spec", "expected"),
    [
        ("v0.3.0", {}, True),
        ("v1.0.0", {"schedulerName": "volcano"}, True),
        ("v1.0.0", {"schedulerName": "default-scheduler"}, False),
        ("v1.0.0", {"template": {"gangPolicy": {}}}, False),
        # Until v0.2.0 only gangPolicy makes a gang, and until v0.1.0 every ModelServing had to name volcano.
        ("v0.1.0", {}, False),
        ("v0.2.0", {}, False),
        ("", {}, False),
    ],
)
def test_groups_that_volcano_would_start_together(release: str, spec: Object, expected: bool) -> None:
    document = model_serving("ms", role("a", 1), **spec)
    releases = {"kthena": release} if release else {}
    manifests = loaded([document], releases=releases)
    assert not manifests.problems, list(map(str, manifests.problems))
    fleet = render_fleet(manifests.resources, Options(releases=releases))
    assert ("spec.schedulerName" in [each.path for each in warnings(fleet)]) is expected


def pod_groups(*documents: Object, release: str) -> list[tuple[str, int]]:
    """The name and the number of pods of each PodGroup; all pods are in one, and use Volcano."""
    releases = {"kthena": release}
    manifests = loaded(documents, releases=releases)
    assert not manifests.problems, list(map(str, manifests.problems))
    fleet = render_fleet(manifests.resources, Options(releases=releases))
    found = [body for item in fleet.rendered for body in item.others if body["kind"] == "PodGroup"]
    schedulers = {spec.get("schedulerName") for _, each in fleet.workloads for spec in pod_specs(each.body)}
    assert schedulers == ({"volcano"} if found else {None})
    assert all(("volcano" in item.requires) == bool(found) for item in fleet.rendered)
    return [(body["metadata"]["name"], body["spec"]["minMember"]) for body in found]


def pod_specs(body: Object) -> list[Object]:
    template = body["spec"]["leaderWorkerTemplate"]
    return [template[name]["spec"] for name in ("leaderTemplate", "workerTemplate") if name in template]


@pytest.mark.parametrize(
    ("release", "scheduler", "expected"),
    [
        ("v1.0.0", "volcano", [("ms-0", 3), ("ms-1", 3)]),
        ("v0.3.0", "volcano", [("ms-0", 3), ("ms-1", 3)]),
        ("v0.2.0", "volcano", []),
        ("v1.0.0", "", []),
        ("v1.0.0", None, []),
    ],
)
def test_groups_of_several_instances_that_name_volcano_are_gangs(
    release: str, scheduler: str | None, expected: list[tuple[str, int]]
) -> None:
    spec: dict[str, Any] = {} if scheduler is None else {"schedulerName": scheduler}
    document = model_serving("ms", role("a"), role("b", 1), replicas=2, **spec)
    if scheduler is None:
        del document["spec"]["schedulerName"]
    assert pod_groups(document, release=release) == expected


def test_an_empty_scheduler_is_that_of_kubernetes() -> None:
    releases = {"kthena": "v1.0.0"}
    document = model_serving("ms", role("a", 1), schedulerName="")
    native = render_fleet(loaded([document], releases=releases).resources, Options(releases=releases))
    assert "spec.schedulerName" not in [each.path for each in warnings(native)]
    operated = Options(releases=releases, realization=Realization.OPERATOR)
    (item,) = render_fleet(loaded([document], releases=releases).resources, operated).rendered
    assert "volcano" not in item.requires


@pytest.mark.parametrize(("scheduler", "expected"), [("volcano", [("m-b-0", 2)]), ("", [])])
def test_a_pair_of_a_booster_that_names_volcano_is_a_gang(scheduler: str, expected: list[tuple[str, int]]) -> None:
    fields: dict[str, Any] = {"schedulerName": scheduler} if scheduler else {}
    fleet = fleet_of(booster("m", pair(**fields)))
    found = [body for item in fleet.rendered for body in item.others if body["kind"] == "PodGroup"]
    assert [(body["metadata"]["name"], body["spec"]["minMember"]) for body in found] == expected
    assert not [each.path for each in warnings(fleet) if "schedulerName" in each.path]


def test_a_pod_alone_is_no_group() -> None:
    releases = {"kthena": "v1.0.0"}
    fleet = render_fleet(
        loaded([model_serving("ms", role())], releases=releases).resources, Options(releases=releases)
    )
    assert "spec.schedulerName" not in [each.path for each in warnings(fleet)]


@pytest.mark.parametrize(
    ("scheduler", "count", "expected"),
    [("volcano", 2, ["spec.backends[0].schedulerName"]), ("volcano", 1, []), (None, 2, [])],
)
def test_replicas_of_a_booster_that_volcano_would_start_together(
    scheduler: str | None, count: int, expected: list[str]
) -> None:
    fields = {"schedulerName": scheduler} if scheduler else {}
    document = booster("m", backend(workers=[worker(pods=count)], **fields))
    found = [each.path for each in warnings(fleet_of(document)) if "schedulerName" in each.path]
    assert found == expected
