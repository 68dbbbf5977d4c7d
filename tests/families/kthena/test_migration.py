"""Conversions of Kthena's manifests between releases: what each step does, and that the same is rendered."""

import copy
import json
import os
from collections.abc import MutableMapping
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from components.contract.checking import check
from components.families import kinds, objects
from components.families.kthena.kinds import RELEASES
from components.families.kthena.migration import STEPS
from components.families.migration import Batch, MigratedDocument, drop_losses, migrate
from components.fleet.options import Options
from components.fleet.rendered import Fleet
from components.plan.rendering import render_fleet
from tests.families.kthena.booster.strategies import CACHES, CONFIGS, ENVS, IMAGES, NAMES, RESOURCES
from tests.families.kthena.booster.support import KEYS
from tests.families.kthena.migrating import (
    BOOSTER,
    LEADER,
    METRICS,
    binding,
    booster,
    policy,
    serving,
)

Object = MutableMapping[str, Any]
EXAMPLES = int(os.environ.get("INFERENCE_PLATFORM_MIGRATIONS", "20"))
FIRST, OLDEST, NEWEST = "97b99f41", "v0.1.0", "v1.0.0"


def migrated(origin: str, target: str, *documents: Object) -> Batch:
    batch = Batch([MigratedDocument(copy.deepcopy(document), "m.yaml") for document in documents])
    migrate(batch, kinds(), RELEASES, STEPS, origin, target)
    return batch


def specs(batch: Batch) -> dict[str, Object]:
    return {document.title: document.value["spec"] for document in batch.documents}


def listed(changes: list[Any]) -> list[tuple[str, str]]:
    return [(change.title, change.path) for change in changes]


def fleet_of(*documents: Object) -> Fleet:
    return render_fleet(objects(copy.deepcopy(list(documents))).resources, Options())


def rendered(*documents: Object) -> list[str]:
    """Return every object that is rendered natively, in no order."""
    fleet = fleet_of(*documents)
    assert [str(p) for p in fleet.problems if p.is_error] == []
    return sorted(json.dumps(body, sort_keys=True) for item in fleet.rendered for body in item.objects)


# -- the steps


def test_one_backend_keeps_everything() -> None:
    batch = migrated(OLDEST, "v0.2.0", booster("m", {**BOOSTER, "minReplicas": 2, "maxReplicas": 2}))
    assert specs(batch) == {"ModelBooster/m": {"backend": {**BOOSTER, "minReplicas": 2, "maxReplicas": 2}}}
    assert batch.losses == batch.notes == []
    back = migrated("v0.2.0", OLDEST, batch.documents[0].value)
    assert specs(back) == {"ModelBooster/m": {"backends": [{**BOOSTER, "minReplicas": 2, "maxReplicas": 2}]}}


def test_the_policy_of_the_only_backend_moves() -> None:
    own = {**BOOSTER, "minReplicas": 1, "maxReplicas": 4}
    before = booster("m", {**own, "autoscalingPolicy": {"metrics": METRICS}})
    batch = migrated(OLDEST, "v0.2.0", before)
    assert specs(batch) == {"ModelBooster/m": {"backend": own, "autoscalingPolicy": {"metrics": METRICS}}}
    assert batch.losses == batch.notes == []
    assert rendered(before) == rendered(*(document.value for document in batch.documents))
    assert specs(migrated("v0.2.0", OLDEST, batch.documents[0].value)) == {"ModelBooster/m": before["spec"]}


def test_costs_of_the_only_backend_are_removed_with_a_note() -> None:
    own = {**BOOSTER, "minReplicas": 1, "maxReplicas": 4}
    before = booster("m", {**own, "scalingCost": 3, "routeWeight": 10, "scaleToZeroGracePeriod": "30s"})
    before["spec"] |= {"autoscalingPolicy": {"metrics": METRICS}, "costExpansionRatePercent": 100}
    batch = migrated(OLDEST, "v0.2.0", before)
    assert specs(batch) == {"ModelBooster/m": {"backend": own, "autoscalingPolicy": {"metrics": METRICS}}}
    assert batch.losses == []
    assert {path for _, path in listed(batch.notes)} == {
        "spec.backends[0].routeWeight",
        "spec.backends[0].scalingCost",
        "spec.backends[0].scaleToZeroGracePeriod",
        "spec.costExpansionRatePercent",
        "spec.autoscalingPolicy",
    }


def several(**fields: Any) -> Object:
    one = {**BOOSTER, "name": "a10g-spot", "minReplicas": 1, "maxReplicas": 1, "routeWeight": 30, **fields}
    return booster("m", one, {**one, "name": "a10g-fixed", "routeWeight": 70}, {**one, "name": "b"})


def test_several_backends_become_boosters_behind_a_route() -> None:
    """Where the name of a backend has a dash, its ModelServing can keep its name, if that of the booster is free."""
    batch = migrated(OLDEST, "v0.2.0", several())
    found = specs(batch)
    assert list(found) == ["ModelBooster/m-a10g", "ModelBooster/m-a10g-fixed", "ModelBooster/m-b", "ModelRoute/m"]
    servings = ["m-a10g-spot", "m-a10g-fixed-a10g-fixed", "m-b-b"]
    assert [found[f"ModelBooster/{name}"]["backend"]["name"] for name in ("m-a10g", "m-a10g-fixed", "m-b")] == [
        "spot",
        "a10g-fixed",
        "b",
    ]
    targets = [{"modelServerName": s, "weight": w} for s, w in zip(servings, (30, 70, 30), strict=True)]
    assert found["ModelRoute/m"] == {
        "modelName": "m",
        "rules": [{"name": "default", "targetModels": targets}],
    }
    assert [path for _, path in listed(batch.losses)] == ["spec.backends[1].name", "spec.backends[2].name"]
    # Engines keep serving the name that requests have.
    configs = [found[f"ModelBooster/{name}"]["backend"]["workers"][0]["config"] for name in ("m-a10g", "m-b")]
    assert configs == [{"served-model-name": "m"}, {"served-model-name": "m"}]


def test_what_runs_behind_several_backends_stays_the_same_but_for_names() -> None:
    def essence(documents: list[Object]) -> list[str]:
        containers = []
        fleet = render_fleet(objects(copy.deepcopy(documents)).resources, Options())
        assert [str(p) for p in fleet.problems if p.is_error] == []
        for workload in (workload for item in fleet.rendered for workload in item.workloads):
            template = workload.body["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]
            for container in template["containers"]:
                kept = {key: value for key, value in container.items() if key not in ("args", "volumeMounts", "env")}
                containers.append(json.dumps([workload.replicas, kept, sorted(container["args"])], sort_keys=True))
        return sorted(containers)

    before = several()
    after = [document.value for document in migrated(OLDEST, "v0.2.0", before).documents]
    assert essence([before]) == essence(after)


def test_a_policy_of_several_backends_becomes_a_binding() -> None:
    before = several(scalingCost=3, minReplicas=0, maxReplicas=4)
    before["spec"]["backends"][1]["minReplicas"] = 2
    before["spec"] |= {"autoscalingPolicy": {"metrics": METRICS}, "costExpansionRatePercent": 100}
    batch = migrated(OLDEST, "v0.2.0", before)
    found = specs(batch)
    assert found["AutoscalingPolicy/m"] == {"metrics": METRICS}
    target = found["AutoscalingPolicyBinding/m"]["heterogeneousTarget"]
    assert target["costExpansionRatePercent"] == 100
    assert [(p["cost"], p["minReplicas"], p["maxReplicas"]) for p in target["params"]] == [
        (3, 0, 4),
        (3, 2, 4),
        (3, 0, 4),
    ]
    assert target["params"][0]["target"] == {
        "targetRef": {"kind": "ModelServing", "name": "m-a10g-spot"},
        "metricEndpoint": {"labelSelector": {"matchLabels": {LEADER[0]: LEADER[1]}}},
    }
    fixed = [found[f"ModelBooster/{name}"]["backend"] for name in ("m-a10g", "m-a10g-fixed", "m-b")]
    assert [(b["minReplicas"], b["maxReplicas"]) for b in fixed] == [(1, 1), (2, 2), (1, 1)]
    assert rendered(*(document.value for document in batch.documents))


def test_adapters_are_lost() -> None:
    adapters = [{"name": "x", "artifactURL": "hf://a/x"}]
    batch = migrated(OLDEST, "v0.2.0", several(loraAdapters=adapters))
    assert {path for _, path in listed(batch.losses)} >= {
        f"spec.backends[{index}].loraAdapters" for index in range(3)
    }
    one = migrated(
        OLDEST, "v0.2.0", booster("m", {**BOOSTER, "minReplicas": 1, "maxReplicas": 1, "loraAdapters": adapters})
    )
    assert listed(one.losses) == [("ModelBooster/m", "spec.backend.loraAdapters")]


def test_no_new_booster_has_a_name_that_is_taken() -> None:
    other = booster("m-a10g", {**BOOSTER, "minReplicas": 1, "maxReplicas": 1})
    batch = migrated(OLDEST, "v0.2.0", several(), other)
    names = [document.name for document in batch.of_kind("ModelBooster")]
    assert len(names) == len(set(names)) == 4


def test_labels_of_a_binding_become_a_selector() -> None:
    before = binding("b", "p", "s", additionalMatchLabels={"a": "b"}, metricEndpoint={"port": 8000})
    batch = migrated(OLDEST, "v0.2.0", before)
    (spec,) = specs(batch).values()
    selector = {"port": 8000, "labelSelector": {"matchLabels": {"a": "b"}}}
    target = {"targetRef": {"kind": "ModelServing", "name": "s"}, "metricEndpoint": selector}
    assert spec["homogeneousTarget"] == {"target": target, "minReplicas": 1, "maxReplicas": 3}
    assert specs(migrated("v0.2.0", OLDEST, batch.documents[0].value)) == {
        "AutoscalingPolicyBinding/b": before["spec"]
    }


def test_a_selector_with_expressions_is_lost() -> None:
    before = binding("b", "p", "s")
    batch = migrated(OLDEST, "v0.2.0", before)
    expressions = {"matchExpressions": [{"key": "a", "operator": "Exists"}]}
    batch.documents[0].value["spec"]["homogeneousTarget"]["target"]["metricEndpoint"] = {"labelSelector": expressions}
    back = migrated("v0.2.0", OLDEST, batch.documents[0].value)
    assert listed(back.losses) == [
        ("AutoscalingPolicyBinding/b", "spec.scalingConfiguration.target.metricEndpoint.labelSelector")
    ]


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ({"mode": "soft", "highestTierAllowed": 2}, {"groupPolicy": {"mode": "soft", "highestTierAllowed": 2}}),
        ({"highestTierAllowed": 1}, {"groupPolicy": {"highestTierAllowed": 1}}),
    ],
)
def test_the_topology_of_groups(older: Object, newer: Object) -> None:
    before = serving("s", networkTopology=older, gangPolicy={})
    batch = migrated(OLDEST, "v0.2.0", before)
    assert batch.documents[0].value["spec"]["template"]["networkTopology"] == newer
    assert rendered(before) == rendered(batch.documents[0].value)
    assert migrated("v0.2.0", OLDEST, batch.documents[0].value).documents[0].value == before


def test_the_default_of_the_older_topology_is_set() -> None:
    (document,) = migrated(OLDEST, "v0.2.0", serving("s", networkTopology={})).documents
    assert document.value["spec"]["template"]["networkTopology"] == {"groupPolicy": {"highestTierAllowed": 1}}


def test_what_the_older_topology_cannot_express_is_lost() -> None:
    newer = {"groupPolicy": {"highestTierName": "rack"}, "rolePolicy": {"highestTierAllowed": 1}}
    batch = migrated("v0.2.0", OLDEST, serving("s", networkTopology=newer))
    path = "spec.template.networkTopology"
    assert {p for _, p in listed(batch.losses)} == {f"{path}.groupPolicy", f"{path}.rolePolicy"}


def test_the_scheduler_is_set_for_older_releases() -> None:
    newer = serving("s")
    del newer["spec"]["schedulerName"]
    batch = migrated(NEWEST, OLDEST, newer)
    assert batch.documents[0].value["spec"]["schedulerName"] == "volcano"
    assert batch.losses == []
    other = serving("s")
    other["spec"]["schedulerName"] = "own"
    assert listed(migrated(NEWEST, OLDEST, other).losses) == [("ModelServing/s", "spec.schedulerName")]


def test_surge_and_spread_are_lost() -> None:
    before = serving("s")
    before["spec"] |= {
        "rolloutStrategy": {"rollingUpdateConfiguration": {"maxSurge": 1}},
        "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}],
    }
    assert sorted(listed(migrated(OLDEST, "v0.3.0", before).losses)) == [
        ("ModelServing/s", "spec.rolloutStrategy.rollingUpdateConfiguration.maxSurge"),
        ("ModelServing/s", "spec.topologySpreadConstraints"),
    ]


def test_a_gang_larger_than_its_role() -> None:
    before = serving("s", gangPolicy={"minRoleReplicas": {"leader": 2}})
    before["spec"]["template"]["roles"][0] |= {
        "workerReplicas": 1,
        "workerTemplate": before["spec"]["template"]["roles"][0]["entryTemplate"],
    }
    batch = migrated("v0.2.0", "v0.3.0", before)
    assert batch.documents[0].value["spec"]["template"]["gangPolicy"] == {"minRoleReplicas": {"leader": 1}}
    assert listed(batch.notes) == [("ModelServing/s", "spec.template.gangPolicy.minRoleReplicas.leader")]
    assert rendered(before) == rendered(batch.documents[0].value)


@pytest.mark.parametrize(
    ("partition", "older", "lost"), [("50%", 2, False), (2, 2, False), ("100%", None, True), (4, None, True)]
)
def test_a_partition(partition: int | str, older: int | None, lost: bool) -> None:
    before = serving("s")
    before["spec"] |= {"replicas": 4, "rolloutStrategy": {"rollingUpdateConfiguration": {"partition": partition}}}
    batch = migrated("v0.4.0", "v0.3.0", before)
    update = batch.documents[0].value["spec"]["rolloutStrategy"]["rollingUpdateConfiguration"]
    assert (update.get("partition"), bool(batch.losses)) == (older, lost)


def test_bounds_without_a_policy_become_replicas() -> None:
    before = booster("m", {**BOOSTER, "minReplicas": 2, "maxReplicas": 2}, form="backend")
    batch = migrated("v0.4.0", NEWEST, before)
    assert specs(batch) == {"ModelBooster/m": {"backend": {**BOOSTER, "replicas": 2}}}
    assert rendered(before) == rendered(batch.documents[0].value)
    assert migrated(NEWEST, "v0.4.0", batch.documents[0].value).documents[0].value == before


def test_the_policy_of_a_booster_becomes_one_of_its_own() -> None:
    before = booster("m", {**BOOSTER, "minReplicas": 1, "maxReplicas": 4}, form="backend")
    before["spec"]["autoscalingPolicy"] = {"metrics": METRICS, "tolerancePercent": 10}
    batch = migrated("v0.4.0", NEWEST, before)
    found = specs(batch)
    assert found["ModelBooster/m"] == {"backend": {**BOOSTER, "replicas": 1}}
    source = {"pod": {"labelSelector": {"matchLabels": {LEADER[0]: LEADER[1]}}}}
    target = {
        "targetRef": {"kind": "ModelServing", "name": "m-b"},
        "metricSources": {METRICS[0]["metricName"]: source},
    }
    assert found["AutoscalingPolicy/m-b"] == {
        "metrics": [{"name": METRICS[0]["metricName"], "targetValue": 5}],
        "tolerancePercent": 10,
        "homogeneousTarget": {"target": target, "minReplicas": 1, "maxReplicas": 4},
    }
    documents = [document.value for document in batch.documents]
    assert rendered(before) == rendered(*documents)
    assert [document.value for document in migrated(NEWEST, "v0.4.0", *documents).documents] == [before]


def test_no_replicas_are_lost_without_a_policy() -> None:
    batch = migrated(NEWEST, "v0.4.0", booster("m", {**BOOSTER, "replicas": 0}, form="backend"))
    assert listed(batch.losses) == [("ModelBooster/m", "spec.backend.replicas")]


def test_bindings_are_merged_into_policies() -> None:
    """The first takes the policy itself, each other one a copy; all are named after the bindings."""
    before = [serving("s"), serving("t"), policy("p"), bound("x", "s"), bound("y", "t")]
    batch = migrated("v0.4.0", NEWEST, *before)
    found = specs(batch)
    assert list(found) == ["ModelServing/s", "ModelServing/t", "AutoscalingPolicy/x", "AutoscalingPolicy/y"]
    assert [found[f"AutoscalingPolicy/{n}"]["homogeneousTarget"]["target"]["targetRef"]["name"] for n in "xy"] == [
        "s",
        "t",
    ]
    assert listed(batch.notes) == [("AutoscalingPolicy/p", "metadata.name"), ("AutoscalingPolicy/p", "metadata.name")]
    assert batch.losses == []
    assert rendered(*before) == rendered(*(document.value for document in batch.documents))


def bound(name: str, target: str, **fields: Any) -> Object:
    whole = binding(name, "p", target, metricEndpoint={"port": 8000}, **fields)
    whole["spec"]["homogeneousTarget"] = whole["spec"].pop("scalingConfiguration")
    return whole


def test_a_binding_and_a_policy_of_one_name_come_back() -> None:
    before = [policy("p"), bound("p", "s")]
    batch = migrated("v0.4.0", NEWEST, *before)
    assert batch.losses == batch.notes == []
    back = migrated(NEWEST, "v0.4.0", *(document.value for document in batch.documents))
    assert [document.value for document in back.documents] == before


@pytest.mark.parametrize(
    ("documents", "title", "path"),
    [
        ([bound("x", "s")], "AutoscalingPolicyBinding/x", "spec.policyRef.name"),
        ([policy("p")], "AutoscalingPolicy/p", "spec"),
        ([policy("p"), policy("x"), bound("x", "s")], "AutoscalingPolicyBinding/x", "metadata.name"),
    ],
)
def test_what_cannot_be_merged_is_listed(documents: list[Object], title: str, path: str) -> None:
    assert (title, path) in listed(migrated("v0.4.0", NEWEST, *documents).losses)


def test_a_role_that_a_binding_scales() -> None:
    before = [policy("x"), bound("x", "s", subTargets={"kind": "Role", "name": "leader"})]
    before[1]["spec"]["policyRef"]["name"] = "x"
    batch = migrated("v0.4.0", NEWEST, *before)
    (spec,) = specs(batch).values()
    source = {METRICS[0]["metricName"]: {"pod": {"port": 8000}}}
    assert spec["disaggregatedTarget"] == {
        "targetRef": {"kind": "ModelServing", "name": "s"},
        "roles": {"leader": {"minReplicas": 1, "maxReplicas": 3, "metricSources": source}},
    }
    back = migrated(NEWEST, "v0.4.0", batch.documents[0].value)
    assert [document.value for document in back.documents] == before


@pytest.mark.parametrize(
    ("sources", "lost"),
    [
        ({"a": {"pod": {}}, "b": {"pod": {}}}, []),
        ({"a": {"pod": {}}, "b": {"pod": {"port": 1}}}, ["b"]),
        ({"a": {"pod": {}}}, ["b"]),
        ({"a": {"pod": {}}, "b": {"prometheus": {"serverURL": "http://p", "query": "q"}}}, ["b.prometheus"]),
    ],
)
def test_sources_that_one_endpoint_cannot_express(sources: Object, lost: list[str]) -> None:
    metrics = [{"name": name, "targetValue": 1} for name in "ab"]
    target = {"targetRef": {"name": "s"}, "metricSources": sources}
    whole = policy("p")
    whole["spec"] = {"metrics": metrics, "homogeneousTarget": {"target": target, "minReplicas": 1, "maxReplicas": 2}}
    batch = migrated(NEWEST, "v0.4.0", whole)
    where = "spec.homogeneousTarget.target.metricSources"
    assert listed(batch.losses) == [("AutoscalingPolicy/p", f"{where}.{path}") for path in lost]


def test_two_roles_are_lost() -> None:
    roles = {name: {"minReplicas": 1, "maxReplicas": 2, "metricSources": {"a": {"pod": {}}}} for name in ("p", "d")}
    whole = policy("p")
    whole["spec"] = {
        "metrics": [{"name": "a", "targetValue": 1}],
        "disaggregatedTarget": {"targetRef": {"name": "s"}, "roles": roles},
    }
    assert ("AutoscalingPolicy/p", "spec.disaggregatedTarget") in listed(migrated(NEWEST, "v0.4.0", whole).losses)


@pytest.mark.parametrize("target", RELEASES.names)
def test_documents_in_the_form_of_the_target_are_left_alone(target: str) -> None:
    newer: dict[str, list[Object]] = {
        "v0.2.0": [booster("m", {**BOOSTER, "minReplicas": 2, "maxReplicas": 2}, form="backend"), bound("x", "s")],
        NEWEST: [booster("m", {**BOOSTER, "replicas": 2}, form="backend")],
    }
    documents = newer.get(target, [])
    batch = migrated(FIRST, target, *documents)
    assert [document.value for document in batch.documents] == documents


# -- any documents


@st.composite
def fleets(draw: st.DrawFn) -> list[Object]:
    """Resources in the form of v0.1.0 whose meaning every release can express."""
    kind = draw(st.sampled_from(["vLLM", "vLLMDisaggregated"]))
    sides = ["prefill", "decode"] if kind == "vLLMDisaggregated" else ["server"]
    workers, image = [], draw(IMAGES)
    for side in sides:
        worker: dict[str, Any] = {"type": side, "image": image, "replicas": 1, "pods": draw(st.integers(1, 3))}
        for field, strategy in (("config", CONFIGS), ("resources", RESOURCES)):
            value = draw(strategy)
            worker |= {field: value} if value else {}
        workers.append(worker)
    least = draw(st.integers(1, 3))
    backend: dict[str, Any] = {"name": draw(NAMES), "type": kind, "modelURI": "hf://org/name", "workers": workers}
    backend |= {"env": [*draw(ENVS), *KEYS], "minReplicas": least, "maxReplicas": least}
    cache = draw(CACHES)
    backend |= {"cacheURI": cache} if cache else {}
    if kind == "vLLM" and draw(st.booleans()):
        backend |= {"autoscalingPolicy": {"metrics": METRICS}, "maxReplicas": least + draw(st.integers(0, 3))}
    topology = draw(st.sampled_from([None, {"highestTierAllowed": 2}, {"mode": "soft", "highestTierAllowed": 1}]))
    group: dict[str, Any] = {"gangPolicy": {"minRoleReplicas": {"leader": 1}}} if draw(st.booleans()) else {}
    group |= {"networkTopology": topology} if topology else {}
    replicas = draw(st.integers(1, 4))
    groups = serving("groups", **group)
    groups["spec"] |= {"replicas": replicas}
    one = serving("one")
    if draw(st.booleans()):
        update = {"maxUnavailable": draw(st.sampled_from([1, 2, "50%"])), "partition": draw(st.integers(0, 1))}
        one["spec"] |= {"replicas": 2, "rolloutStrategy": {"rollingUpdateConfiguration": update}}
    labels = draw(st.sampled_from([{}, {"additionalMatchLabels": {LEADER[0]: LEADER[1]}}]))
    name = draw(st.sampled_from(["p", "other"]))
    scaled = binding(name, "p", "one", metricEndpoint={"port": 8000}, **labels)
    return [booster(f"m{draw(NAMES)}", backend), groups, one, policy("p"), scaled]


PAIRS = [(a, b) for a, b in zip(RELEASES.names, RELEASES.names[1:], strict=False)] + [(FIRST, NEWEST)]


@pytest.mark.parametrize(("origin", "target"), PAIRS)
@given(documents=fleets())
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_the_same_is_rendered_and_comes_back(origin: str, target: str, documents: list[Object]) -> None:
    start = migrated(FIRST, origin, *documents)
    assert start.losses == []
    before = [document.value for document in start.documents]
    # Arguments at random may contradict each other.
    assume(not any(problem.is_error for problem in fleet_of(*before).problems))
    batch = migrated(origin, target, *before)
    after = [document.value for document in batch.documents]
    assert batch.losses == []
    for value in after:
        kind = kinds().by_name(value["kind"]).at(target)
        assert check(dict(value), kind)[1] == [], "it is valid in the release that it was converted to"
    assert rendered(*before) == rendered(*after)
    back = migrated(target, origin, *after)
    assert back.losses == []
    if not (batch.notes or back.notes):
        assert [document.value for document in back.documents] == before


def test_a_metric_loses_its_own_name_and_that_is_said() -> None:
    sources = {"queue": {"pod": {"name": "vllm:num_requests_waiting", "port": 8000}}}
    target = {"targetRef": {"kind": "ModelServing", "name": "s"}, "metricSources": sources}
    bounded = {"target": target, "minReplicas": 1, "maxReplicas": 3}
    before = {**policy("p")}
    before["spec"] = {"metrics": [{"name": "queue", "targetValue": 5}], "homogeneousTarget": bounded}
    batch = migrated(NEWEST, "v0.4.0", before)
    assert specs(batch)["AutoscalingPolicy/p"]["metrics"] == METRICS
    assert ("AutoscalingPolicy/p", "spec.homogeneousTarget.target.metricSources.queue") in listed(batch.notes)
    sources["vllm:num_requests_waiting"] = sources.pop("queue")
    before["spec"]["metrics"][0]["name"] = "vllm:num_requests_waiting"
    assert migrated(NEWEST, "v0.4.0", before).notes == [], "it has the name of what the pods export"


def test_what_hides_other_losses_is_removed_first() -> None:
    """A form that no release has is one problem; the rest of the object is looked at without it."""
    topology = {"mode": "hard", "groupPolicy": {"mode": "hard"}}
    before = serving("s", networkTopology=topology)
    before["spec"]["plugins"] = [{"name": "p", "type": "BuiltIn"}]
    batch = migrated("v0.1.0", "v0.1.0", before)
    assert [loss.path for loss in batch.losses] == ["spec.template.networkTopology", "spec.plugins"]
    (document,) = batch.documents
    assert drop_losses(document, kinds(), "v0.1.0") == []
    assert "plugins" not in document.value["spec"]
