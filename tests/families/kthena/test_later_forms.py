"""Forms and fields of releases after the contract's, as they are rendered natively."""

import copy
import json
from typing import Any

import pytest
import yaml

from components.families import parse
from components.fleet.rendered import Fleet
from tests.families.kthena.autoscaling.bindings import QUEUE, binding, bounded, policy, serving
from tests.families.kthena.booster.support import KEYS, POLICY, backend, booster, pair, worker
from tests.families.kthena.in_release import as_one, as_replicas, bodies, fleet_in
from tests.families.kthena.routing.routes import ROUTER, model_route, model_server, pool, rule
from tests.families.kthena.serving.support import engine, model_serving, pods, role

Object = dict[str, Any]
CONTRACT, SECOND, NEWEST = "97b99f41", "v0.2.0", "v1.0.0"


def found(fleet: Fleet) -> list[tuple[str, str, str]]:
    return [(str(problem.severity), problem.path, problem.reason) for problem in fleet.problems]


def made(release: str, *documents: Object, **options: Any) -> dict[tuple[str, str], Object]:
    each = map(json.loads, bodies(release, *documents, **options))
    return {(body["kind"], body["metadata"]["name"]): body for body in each}


def template_of(objects: dict[tuple[str, str], Object], name: str, part: str = "leaderTemplate") -> Object:
    template: Object = objects["LeaderWorkerSet", name]["spec"]["leaderWorkerTemplate"][part]
    return template


# -- ModelBoosters

BOOSTERS: dict[str, Object] = {
    "one server": booster("m", backend()),
    "several pods": booster("m", backend("b", [worker(pods=2)], minReplicas=2, maxReplicas=2)),
    "a pair": booster("m", pair()),
    "with everything": booster(
        "m",
        backend(
            env=KEYS,
            cacheURI="hostpath:///c",
            modelURI="s3://bucket/model",
        ),
        modelMatch={"headers": {"a": {"exact": "b"}}},
    ),
}


@pytest.mark.parametrize("document", BOOSTERS.values(), ids=BOOSTERS)
@pytest.mark.parametrize(
    ("release", "form"), [("", as_one), (SECOND, as_one), ("", as_replicas), (NEWEST, as_replicas)]
)
def test_one_backend_is_rendered_alike_in_every_form(document: Object, release: str, form: Any) -> None:
    assert bodies(release, form(document)) == bodies(CONTRACT, document)


def test_a_policy_of_the_only_backend_is_rendered_alike() -> None:
    scaled = booster("m", backend(autoscalingPolicy=POLICY, maxReplicas=3))
    one = as_one(scaled)
    one["spec"]["autoscalingPolicy"] = one["spec"]["backend"].pop("autoscalingPolicy")
    assert bodies(SECOND, one) == bodies(CONTRACT, scaled)


def test_problems_are_at_the_field_that_is_written() -> None:
    gpus = {"limits": {"nvidia.com/gpu": "1"}, "requests": {"nvidia.com/gpu": "2"}}
    wrong = booster("m", backend("b", [worker(resources=gpus)]))
    several = {path for _, path, _ in found(fleet_in(CONTRACT, wrong))}
    assert any(path.startswith("spec.backends[0].workers[0]") for path in several)
    one = {path for _, path, _ in found(fleet_in(NEWEST, as_replicas(wrong)))}
    assert one == {path.replace("spec.backends[0]", "spec.backend") for path in several}


def test_pods_have_the_scheduler_tolerations_and_runtime_class_of_a_backend() -> None:
    document = as_replicas(booster("m", backend()))
    tolerations = [{"key": "a", "operator": "Exists"}]
    document["spec"]["backend"] |= {"runtimeClassName": "r", "schedulerName": "own"}
    document["spec"]["backend"]["workers"][0]["tolerations"] = tolerations
    (template,) = (
        body["spec"]["leaderWorkerTemplate"]["workerTemplate"]
        for (kind, _), body in made(NEWEST, document).items()
        if kind == "LeaderWorkerSet"
    )
    spec = template["spec"]
    assert spec["tolerations"] == tolerations
    assert (spec["runtimeClassName"], spec["schedulerName"]) == ("r", "own")


def test_weights_of_modelscope_have_their_downloader() -> None:
    env = [{"name": name, "value": "x"} for name in ("MS_TOKEN", "MS_REVISION", "HF_REVISION")]
    for uri, image, variables in (
        ("ms://org/name", "ghcr.io/volcano-sh/downloader:v1.0.0", ["MS_TOKEN", "MS_REVISION", "HF_REVISION"]),
        ("hf://org/name", "ghcr.io/volcano-sh/downloader:v0.1.0", ["HF_REVISION"]),
    ):
        objects = made(NEWEST, as_replicas(booster("m", backend(modelURI=uri, env=env))))
        (name,) = (name for kind, name in objects if kind == "LeaderWorkerSet")
        (loader,) = template_of(objects, name, "workerTemplate")["spec"]["initContainers"]
        read = [variable["name"] for variable in loader["env"] if variable in env]
        assert (loader["image"], read) == (image, variables)


# -- ModelServings


def test_policies_of_a_topology() -> None:
    roles = (role("p", 1, replicas=2), role("d", 0, replicas=1))
    topology = {"groupPolicy": {"mode": "soft", "highestTierAllowed": 2}, "rolePolicy": {"highestTierAllowed": 1}}
    objects = made(NEWEST, model_serving("s", *roles, template={"networkTopology": topology}))
    spec = objects["PodGroup", "s-0"]["spec"]
    assert spec["networkTopology"] == {"mode": "soft", "highestTierAllowed": 2}
    assert [(each["name"], each["subGroupSize"], each["minSubGroups"]) for each in spec["subGroupPolicy"]] == [
        ("p", 2, 2),
        ("d", 1, 1),
    ]
    assert all(each["networkTopology"]["highestTierAllowed"] == 1 for each in spec["subGroupPolicy"])
    assert "minTaskMember" not in spec


def test_the_topology_of_a_group_is_rendered_alike() -> None:
    topology = {"mode": "soft", "highestTierAllowed": 2}
    roles = (role("p", 1, replicas=2),)
    older = model_serving("s", *roles, template={"networkTopology": topology})
    newer = model_serving("s", *roles, template={"networkTopology": {"groupPolicy": topology}})
    assert bodies(SECOND, newer) == bodies(CONTRACT, older)


TWEAKS: Object = {
    "name": "demo-pod-tweaks",
    "type": "BuiltIn",
    "config": {"runtimeClassName": "r", "annotations": {"a": "b"}, "env": [{"name": "A", "value": "1"}]},
}


@pytest.mark.parametrize(
    ("scope", "entry", "workers"),
    [
        (None, True, True),
        ({"target": "Entry"}, True, False),
        ({"target": "Worker", "roles": ["a"]}, False, True),
        ({"target": "All", "roles": ["b"]}, False, False),
    ],
)
def test_the_plugin_that_changes_pods(scope: Object | None, entry: bool, workers: bool) -> None:
    own = pods(engine(env=[{"name": "A", "value": "0"}, {"name": "B", "value": "2"}]))
    plugin = {**TWEAKS, "scope": scope} if scope else TWEAKS
    roles = role("a", 1, entryTemplate=own, workerTemplate=own), role("b")
    objects = made(NEWEST, model_serving("s", *roles, plugins=[plugin]))
    (name,) = (name for kind, name in objects if kind == "LeaderWorkerSet" and "-a-" in name)
    for part, changed in (("leaderTemplate", entry), ("workerTemplate", workers)):
        template = template_of(objects, name, part)
        variables = {item["name"]: item.get("value") for item in template["spec"]["containers"][0]["env"]}
        assert (variables["A"], variables["B"]) == ("1" if changed else "0", "2")
        assert (template["spec"].get("runtimeClassName") == "r") is changed
        assert (template["metadata"].get("annotations", {}).get("a") == "b") is changed


@pytest.mark.parametrize(
    ("plugin", "severity", "path", "words"),
    [
        ({"name": "lws-standard-labels", "type": "BuiltIn"}, "warning", "spec.plugins[0]", "has no effect"),
        ({"name": "own", "type": "BuiltIn"}, "error", "spec.plugins[0].name", "must be demo-pod-tweaks or"),
        ({**TWEAKS, "config": {"env": "A=1"}}, "error", "spec.plugins[0].config.env", "must be a list of"),
        ({**TWEAKS, "config": {"env": [{"value": "1"}]}}, "error", "spec.plugins[0].config.env", "must be a list of"),
        (
            {**TWEAKS, "config": {"runtimeClassName": 1}},
            "error",
            "spec.plugins[0].config.runtimeClassName",
            "a string",
        ),
        ({**TWEAKS, "config": {"x": 1}}, "warning", "spec.plugins[0].config.x", "has no effect"),
        ({**TWEAKS, "scope": {"roles": ["x"]}}, "error", "spec.plugins[0].scope.roles[0]", "names no role"),
    ],
)
def test_what_a_plugin_cannot_do(plugin: Object, severity: str, path: str, words: str) -> None:
    (problem,) = found(fleet_in(NEWEST, model_serving("s", role("a"), plugins=[plugin])))
    assert problem[:2] == (severity, path)
    assert words in problem[2]


def test_updates_of_roles() -> None:
    by_role = {"rolloutStrategy": {"type": "RoleRollingUpdate"}}
    document = model_serving("s", role("a", maxUnavailable=1, replicas=1), replicas=2, **by_role)
    problems = found(fleet_in(NEWEST, document))
    assert {(severity, path) for severity, path, _ in problems} == {
        ("warning", "spec.rolloutStrategy.type"),
        ("warning", "spec.template.roles[0].maxUnavailable"),
    }
    assert bodies(NEWEST, document) == bodies(NEWEST, model_serving("s", role("a"), replicas=2))


@pytest.mark.parametrize(
    ("bound", "replicas", "rolls_roles", "words"),
    [
        # The CRD of the main branch sets 1 where nothing is set, whatever the replicas; without RoleRollingUpdate
        # its webhook does not look at it.
        (1, 0, False, ""),
        (1, 2, False, ""),
        (2, 0, False, "must be from 1 to the replicas"),
        # validateMaxUnavailableForRoles: "maxUnavailable cannot be greater than replicas (0)".
        (1, 0, True, "for a role without replicas"),
        (2, 2, True, ""),
        ("100%", 0, True, "must be from 1 to the replicas"),
    ],
)
def test_the_bound_of_a_role_that_is_scaled_to_zero(
    bound: int | str, replicas: int, rolls_roles: bool, words: str
) -> None:
    update = {"rolloutStrategy": {"type": "RoleRollingUpdate"}} if rolls_roles else {}
    document = model_serving("s", role("b"), role("a", maxUnavailable=bound, replicas=replicas), **update)
    problems = parse(yaml.safe_dump(document), "fleet.yaml", {"kthena": NEWEST}).problems
    assert {problem.path for problem in problems} == ({"spec.template.roles[1].maxUnavailable"} if words else set())
    assert any(words in problem.reason for problem in problems) is bool(words)


@pytest.mark.parametrize(("partition", "ordinal"), [(1, 1), ("50%", 2), ("34%", 2), ("0%", 0)])
def test_a_partition_by_percentage_is_rounded_up(partition: int | str, ordinal: int) -> None:
    update = {"rolloutStrategy": {"rollingUpdateConfiguration": {"partition": partition}}}
    body = made(NEWEST, model_serving("s", replicas=4, **update))["LeaderWorkerSet", "s"]
    strategy = body["spec"].get("rolloutStrategy", {}).get("rollingUpdateConfiguration", {})
    assert strategy.get("partition", 0) == ordinal


def test_a_partition_of_all_groups_is_told() -> None:
    update = {"rolloutStrategy": {"rollingUpdateConfiguration": {"partition": 2}}}
    problems = found(fleet_in(NEWEST, model_serving("s", replicas=2, **update)))
    assert ("warning", "spec.rolloutStrategy.rollingUpdateConfiguration.partition") in [each[:2] for each in problems]


# -- policies and bindings


def scaling(field: str = "homogeneousTarget", name: str = "scaling", **fields: Any) -> Object:
    """A policy that scales ModelServing ``chat``, with its metric read from the pods."""
    target = bounded(metricSources={QUEUE: {"pod": {"port": 8000}}}, **fields)
    if field == "heterogeneousTarget":
        target = {"params": [{**target, "cost": 1}]}
    found = policy(name=name)
    found["spec"] = {"metrics": [{"name": QUEUE, "targetValue": "5"}], field: target}
    return found


@pytest.mark.parametrize("field", ["homogeneousTarget", "heterogeneousTarget"])
def test_a_policy_with_a_target_is_rendered_like_policy_and_binding(field: str) -> None:
    older = {
        "homogeneousTarget": binding(metricEndpoint={"port": 8000}),
        "heterogeneousTarget": binding(bounded(metricEndpoint={"port": 8000}, cost=1)),
    }[field]
    assert bodies(NEWEST, serving(), scaling(field)) == bodies(CONTRACT, serving(), policy(), older)


def test_a_binding_of_the_second_form_is_rendered_alike() -> None:
    older = binding(metricEndpoint={"port": 8000})
    newer = copy.deepcopy(older)
    newer["spec"]["homogeneousTarget"] = newer["spec"].pop("scalingConfiguration")
    assert bodies(SECOND, serving(), policy(), newer) == bodies(CONTRACT, serving(), policy(), older)


TARGET = "spec.homogeneousTarget.target"
PROMETHEUS: Object = {"serverURL": "http://p:9090", "query": "q"}


def test_metrics_of_prometheus_are_refused() -> None:
    document = scaling()
    document["spec"]["homogeneousTarget"]["target"]["metricSources"] = {QUEUE: {"prometheus": PROMETHEUS}}
    errors = [each for each in found(fleet_in(NEWEST, serving(), document)) if each[0] == "error"]
    assert [path for _, path, _ in errors] == [f"{TARGET}.metricSources[{QUEUE}].prometheus"]
    assert "or realization 'operator'" in errors[0][2]


def test_one_role_is_not_scaled_natively() -> None:
    newer = binding(metricEndpoint={"port": 8000}, subTargets={"kind": "Role", "name": "leader"})
    newer["spec"]["homogeneousTarget"] = newer["spec"].pop("scalingConfiguration")
    errors = [each for each in found(fleet_in(SECOND, serving(), policy(), newer)) if each[0] == "error"]
    assert [path for _, path, _ in errors] == [f"{TARGET}.subTargets"]
    assert "or use realization 'operator'" in errors[0][2]


def test_roles_are_not_scaled_natively() -> None:
    document = policy()
    side = {"minReplicas": 1, "maxReplicas": 2, "metricSources": {QUEUE: {"pod": {}}}}
    document["spec"] = {
        "metrics": [{"name": QUEUE, "targetValue": 5}],
        "disaggregatedTarget": {"targetRef": {"kind": "ModelServing", "name": "chat"}, "roles": {"leader": side}},
    }
    (problem,) = found(fleet_in(NEWEST, serving(), document))
    assert problem[:2] == ("error", "spec.disaggregatedTarget")


def test_a_metric_without_a_source_is_told() -> None:
    document = scaling()
    del document["spec"]["homogeneousTarget"]["target"]["metricSources"]
    told = [each for each in found(fleet_in(NEWEST, serving(), document)) if each[1] == f"{TARGET}.metricSources"]
    assert [severity for severity, _, _ in told] == ["warning"]


def test_a_source_names_the_metric_of_the_pods() -> None:
    document = scaling()
    document["spec"]["metrics"][0]["name"] = "queue"
    sources = {"queue": {"pod": {"port": 8000, "name": QUEUE}}}
    document["spec"]["homogeneousTarget"]["target"]["metricSources"] = sources
    assert bodies(NEWEST, serving(), document) == bodies(NEWEST, serving(), scaling())


# -- routes


PARENTS = {"parentRefs": [{"name": "gateway"}]}


def test_gateways_of_a_route_have_no_effect_without_the_router() -> None:
    served = pool("s"), model_server("s", model="org/name")
    route = model_route(rule("s"))
    (problem,) = found(fleet_in(SECOND, *served, {**route, "spec": {**route["spec"], **PARENTS}}))
    assert problem[:2] == ("warning", "spec.parentRefs")


def test_a_route_that_only_the_router_applies_has_no_gateways() -> None:
    served = pool("s"), model_server("s", model="org/name")
    route = model_route(rule("s"), rateLimit={"inputTokensPerUnit": 10, "unit": "minute"})
    (problem,) = found(fleet_in(SECOND, *served, {**route, "spec": {**route["spec"], **PARENTS}}))
    assert problem[:2] == ("error", "spec.parentRefs")
    for release, address in ((CONTRACT, ROUTER), (SECOND, ROUTER.replace("networking-", ""))):
        (item,) = [each for each in fleet_in(release, *served, route).rendered if each.kind == "ModelRoute"]
        assert [endpoint.url for endpoint in item.endpoints] == [address]
