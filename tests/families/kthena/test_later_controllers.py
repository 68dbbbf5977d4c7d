"""Which releases of Kthena's controllers have a defect, read in volcano-sh/kthena at each tag (Kthena spec 10)."""

import copy
from typing import Any

import pytest

from components.families.kthena.kinds import RELEASES
from tests.families.kthena.autoscaling.bindings import QUEUE, binding, bounded, policy, serving
from tests.families.kthena.autoscaling.test_operated import OTHER, PANIC, WHOLE, changed
from tests.families.kthena.booster.support import POLICY, booster, pair
from tests.families.kthena.booster.test_operated import AFFINITY, NAMED, fit, without
from tests.families.kthena.in_release import in_form, operated
from tests.families.kthena.serving.support import engine, model_serving, pods, role
from tests.families.kthena.serving.test_operated import NO_PODS, NOTED, SPREAD, VOLCANO, WIDE, updated

Object = dict[str, Any]
ALL = RELEASES.names
NEWEST = ALL[-1]


def told(release: str, words: str, *documents: Object) -> list[tuple[str, str]]:
    """Severity and path of what is said of documents with some words."""
    problems = operated(release, *documents)
    return [(str(problem.severity), problem.path) for problem in problems if words in problem.reason]


def expected(release: str, last: str, path: str, severity: str = "error") -> list[tuple[str, str]]:
    return [(severity, path)] if ALL.index(release) <= ALL.index(last) else []


# -- ModelBoosters

W = "workers[0]"
ADAPTED = fit(server={"pods": 2}, config={**NAMED, "chat-template": "a b"})
GPUS = fit(server={"pods": 2, "resources": {"limits": {"nvidia.com/gpu": 1}}})
PAIR = pair(prefill={"config": NAMED}, decode={"config": NAMED}, cacheURI="hostpath:///c")
# The words of a message, the booster, the field in its backend, and the last release with the defect.
BOOSTERS: list[tuple[str, Object, str, str]] = [
    ("D-03", without(booster("m", fit()), "cacheURI"), "cacheURI", NEWEST),
    ("D-04", booster("m", fit(cacheURI="hostpath://tmp/c")), "cacheURI", "v0.1.0"),
    ("D-04", booster("m", fit(cacheURI="pvc://c")), "cacheURI", "v0.4.0"),
    ("D-05", booster("m", fit(config=None)), f"{W}.config", "v0.1.0"),
    ("D-06", booster("m", fit(server={"pods": None})), f"{W}.pods", NEWEST),
    ("D-07", booster("m", ADAPTED), f"{W}.config.chat-template", NEWEST),
    ("counts devices in requests only", booster("m", GPUS), f"{W}.resources", "v0.2.0"),
    ("D-20", booster("m", fit(config={**NAMED, "enforce-eager": True})), f"{W}.config.enforce-eager", NEWEST),
    ("does not serve", booster("m", fit(config={})), f"{W}.config", NEWEST),
    ("D-21", booster("m", fit(server={"affinity": AFFINITY})), f"{W}.affinity", "v0.4.0"),
    ("D-26", booster("m", fit(env=[{"name": "A", "value": "${B}"}])), "env", NEWEST),
    ("D-30", booster("m", fit(env=[{"name": "POD_NAME", "value": "x"}])), "env[0]", NEWEST),
    ("D-02", booster("m", PAIR), "type", "v0.2.0"),
]


@pytest.mark.parametrize("release", ALL)
@pytest.mark.parametrize(("words", "document", "field", "last"), BOOSTERS, ids=lambda value: str(value)[:30])
def test_boosters(words: str, document: Object, field: str, last: str, release: str) -> None:
    written = in_form(document, release)
    base = "spec.backend" if "backend" in written["spec"] else "spec.backends[0]"
    assert told(release, words, written) == expected(release, last, f"{base}.{field}")


@pytest.mark.parametrize("release", ALL)
def test_the_only_pod_of_a_booster(release: str) -> None:
    found = told(release, "D-13", in_form(booster("m", fit()), release))
    assert [severity for severity, _ in found] == (["warning"] if release in ALL[: ALL.index("v0.3.0")] else [])


@pytest.mark.parametrize("release", ALL)
def test_the_scheduler_of_several_pods(release: str) -> None:
    """The controller of v1.0.0 leaves schedulerName empty, and creates a PodGroup only if the backend has volcano."""
    several = in_form(booster("m", fit(server={"pods": 2})), release)
    found = [severity for severity, _ in told(release, "scheduled one by one", several)]
    assert found == (["warning"] if release != ALL[0] else [])
    backend = several["spec"].get("backend") or several["spec"]["backends"][0]
    if release != ALL[0]:
        backend["schedulerName"] = "volcano"
        assert told(release, "scheduled one by one", several) == []
    assert told(release, "scheduled one by one", in_form(booster("m", fit()), release)) == []


@pytest.mark.parametrize("release", ALL[:-1])
def test_the_optimizer_of_several_backends(release: str) -> None:
    """D-25: of a policy for one backend, the later controllers make no optimizer."""
    document = booster("m", fit(maxReplicas=2), autoscalingPolicy=POLICY)
    if release in ("97b99f41", "v0.1.0"):
        document["spec"]["backends"][0]["scalingCost"] = 1
    document["metadata"]["namespace"] = "kthena-system"
    found = told(release, "D-25", in_form(document, release))
    assert found == expected(release, "v0.1.0", "spec.costExpansionRatePercent")


def test_the_variables_of_modelscope() -> None:
    env: list[Object] = [{"name": "MS_TOKEN", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}]
    written = in_form(booster("m", fit(modelURI="ms://org/name", env=env)), NEWEST)
    assert told(NEWEST, "MS_TOKEN", written) == [("warning", "spec.backend.env")]
    env = [{"name": "MS_TOKEN", "value": "x"}]
    written = in_form(booster("m", fit(modelURI="ms://org/name", env=env)), NEWEST)
    assert told(NEWEST, "MS_TOKEN", written) == []


# -- ModelServings

ROLE = "spec.template.roles[0]"
ROLLOUT = "spec.rolloutStrategy.rollingUpdateConfiguration"
ONE = role("a", entryTemplate=pods(engine()))
SERVINGS: list[tuple[str, Object, str, str, str]] = [
    (
        "D-10",
        model_serving("s", role("a", 1, workerTemplate=NOTED)),
        f"{ROLE}.workerTemplate.metadata.annotations",
        "v0.3.0",
        "error",
    ),
    (
        "D-09",
        model_serving("s", WIDE, template={"gangPolicy": {}}),
        f"{ROLE}.workerTemplate.spec.schedulerName",
        "v0.1.0",
        "error",
    ),
    ("D-12", model_serving("s", WIDE, recoveryPolicy="None"), "spec.recoveryPolicy", NEWEST, "error"),
    ("D-13", model_serving("s", ONE), "spec.recoveryPolicy", "v0.1.0", "warning"),
    (
        "D-13",
        model_serving("s", role("a", workerTemplate=NO_PODS), recoveryPolicy="ServingGroupRecreate"),
        f"{ROLE}.workerTemplate",
        "v0.2.0",
        "warning",
    ),
    (
        "D-21",
        model_serving("s", WIDE, replicas=3, **updated(maxUnavailable=2)),
        f"{ROLLOUT}.maxUnavailable",
        "v0.2.0",
        "warning",
    ),
    (
        "10 comes before 2",
        model_serving("s", WIDE, replicas=11, **updated(partition=1)),
        f"{ROLLOUT}.partition",
        "v0.1.0",
        "warning",
    ),
]


@pytest.mark.parametrize("release", ALL)
@pytest.mark.parametrize(
    ("words", "document", "path", "last", "severity"), SERVINGS, ids=lambda value: str(value)[:30]
)
def test_servings(words: str, document: Object, path: str, last: str, severity: str, release: str) -> None:
    assert told(release, words, document) == expected(release, last, path, severity)


@pytest.mark.parametrize("release", ["97b99f41", "v0.1.0"])
def test_spread_is_ignored_while_there_is_such_a_field(release: str) -> None:
    document = model_serving("s", WIDE, topologySpreadConstraints=[SPREAD])
    assert told(release, "D-21", document) == [("warning", "spec.topologySpreadConstraints")]


def test_a_topology_without_a_gang() -> None:
    older = model_serving("s", VOLCANO, template={"networkTopology": {}})
    newer = model_serving("s", VOLCANO, template={"networkTopology": {"groupPolicy": {}}})
    for release in ALL[:2]:
        assert told(release, "D-11", older) == [("error", "spec.template.networkTopology")]
    for release in ALL[2:]:
        assert told(release, "D-11", newer) == []


# -- bindings and policies


def bound(release: str, whole: Object, **fields: Any) -> tuple[Object, ...]:
    """A policy and its binding, or both in one, in the form of a release."""
    cost = fields.pop("cost", None)
    fields = {"metricEndpoint": {"port": 8000}, **fields}
    written = binding(bounded(**fields, cost=cost)) if cost else binding(**fields)
    spec = written["spec"]
    if release not in ALL[:2]:
        names = {"scalingConfiguration": "homogeneousTarget", "optimizerConfiguration": "heterogeneousTarget"}
        written["spec"] = spec = {names.get(key, key): value for key, value in spec.items()}
    if release != NEWEST:
        return whole, written
    merged = copy.deepcopy(whole)
    for each in merged["spec"]["metrics"]:
        each["name"] = each.pop("metricName")
    for key in ("homogeneousTarget", "heterogeneousTarget"):
        for param in spec.get(key, {}).get("params", [spec[key]] if key in spec else []):
            param["target"]["metricSources"] = {QUEUE: {"pod": param["target"].pop("metricEndpoint")}}
    merged["spec"] |= {key: value for key, value in spec.items() if key != "policyRef"}
    return (merged,)


def of_scaling(
    release: str,
    words: str,
    *,
    behavior: Object | None = None,
    serves: Object | None = None,
    namespace: str = "kthena-system",
    **fields: Any,
) -> list[str]:
    """Severities of what is said of scaling with some words."""
    spec = {"tolerancePercent": fields.pop("tolerance")} if "tolerance" in fields else {}
    whole = policy(behavior=WHOLE if behavior is None else behavior, **spec)
    documents = serves or serving(), *bound(release, whole, **fields)
    for document in documents:
        document["metadata"]["namespace"] = namespace
    return [severity for severity, _ in told(release, words, *documents)]


SHARED = {"cost": 1}
NO_PANIC: Object = {"scaleUp": {"stablePolicy": {}}, "scaleDown": {}}
SCALINGS: list[tuple[str, dict[str, Any], str, str]] = [
    ("only watches bindings in its own namespace", {"namespace": "models"}, "v0.3.0", "error"),
    ("only measures pods of role", {"serves": serving("chat", OTHER)}, "v0.1.0", "error"),
    ("crashes on a policy without", {**SHARED, "behavior": NO_PANIC}, "v0.1.0", "error"),
    ("passes on no metrics", SHARED, "v0.1.0", "warning"),
    ("never up again", {"minimum": 0}, NEWEST, "warning"),
    ("sets no limit if it is missing", {"behavior": {"scaleUp": PANIC | {"stablePolicy": {}}}}, "v0.1.0", "warning"),
    ("D-17", {"behavior": changed("scaleDown", stabilizationWindow="1m")}, "v0.1.0", "warning"),
    ("D-17", {**SHARED, "behavior": changed("scaleDown", stabilizationWindow="1m")}, NEWEST, "warning"),
    ("D-16", {"behavior": changed("scaleDown", period="1m", percent=50)}, "v0.4.0", "warning"),
    ("D-15", {"tolerance": 20}, NEWEST, "warning"),
]


@pytest.mark.parametrize("release", ALL)
@pytest.mark.parametrize(("words", "fields", "last", "severity"), SCALINGS, ids=lambda value: str(value)[:30])
def test_scaling(words: str, fields: dict[str, Any], last: str, severity: str, release: str) -> None:
    found = of_scaling(release, words, **copy.deepcopy(fields))
    assert found == [severity for severity, _ in expected(release, last, "", severity)]


def test_a_metric_without_a_source() -> None:
    (whole,) = bound(NEWEST, policy(behavior=WHOLE))
    del whole["spec"]["homogeneousTarget"]["target"]["metricSources"]
    found = told(NEWEST, "ignores metrics without a source", serving(), whole)
    assert found == [("warning", "spec.homogeneousTarget.target.metricSources")]


def test_the_version_is_that_of_the_chart() -> None:
    for release, chart in (("97b99f41", "v0.1.0"), ("v0.2.0", "v0.2.0")):
        whole, one = policy(behavior=WHOLE), bound(release, policy())[1]
        problems = operated(release, serving(), whole, one)
        assert any(f"Kthena's controller {chart} only watches" in problem.reason for problem in problems)
