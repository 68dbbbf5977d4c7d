"""What the controllers get wrong of a booster is refused, or warned of (Kthena spec 10)."""

from decimal import Decimal
from typing import Any

import pytest

from components.fleet.options import PodOverrides
from components.fleet.words import Realization
from tests.families.kthena.booster.support import (
    KEYS,
    POLICY,
    Object,
    backend,
    booster,
    pair,
    worker,
)
from tests.fleets import fleet_of

B = "spec.backends[0]"
W = f"{B}.workers[0]"
NAMED: Object = {"served-model-name": "m"}
ADAPTER = {"name": "a", "artifactURL": "hf://org/a"}
ELSEWHERE = {"configMapKeyRef": {"name": "runtime", "key": "url"}}
AFFINITY: Object = {"podAntiAffinity": {}}


def fit(name: str = "b", config: Any = NAMED, server: Object | None = None, **fields: Any) -> Object:
    """A backend that the controllers make work."""
    own = worker(**{"replicas": 1, "pods": 1, "config": config, **(server or {})})
    own = {key: value for key, value in own.items() if value is not None}
    return backend(name, [own], **{"cacheURI": "hostpath:///c", **fields})


def without(document: Object, field: str) -> Object:
    del document["spec"]["backends"][0][field]
    return document


ERRORS: list[tuple[str, Object, str]] = [
    ("D-03", without(booster("m", fit()), "cacheURI"), f"{B}.cacheURI"),
    ("D-04", booster("m", fit(cacheURI="pvc://c")), f"{B}.cacheURI"),
    ("D-04", booster("m", fit(cacheURI="hostpath://tmp/c")), f"{B}.cacheURI"),
    ("D-05", booster("m", fit(config=None)), f"{W}.config"),
    ("D-06", booster("m", fit(server={"replicas": None})), f"{W}.replicas"),
    ("D-06", booster("m", fit(server={"pods": None})), f"{W}.pods"),
    ("D-07", booster("m", fit(server={"pods": 2}, loraAdapters=[ADAPTER])), f"{B}.loraAdapters"),
    (
        "D-07",
        booster("m", fit(server={"pods": 2}, config={**NAMED, "chat-template": "a b"})),
        f"{W}.config.chat-template",
    ),
    (
        "requests only",
        booster("m", fit(server={"pods": 2, "resources": {"limits": {"nvidia.com/gpu": 1}}})),
        f"{W}.resources",
    ),
    ("D-20", booster("m", fit(config={**NAMED, "max-num-seqs": 1048576})), f"{W}.config.max-num-seqs"),
    ("D-20", booster("m", fit(config={**NAMED, "enforce-eager": True})), f"{W}.config.enforce-eager"),
    ("D-20", booster("m", fit(config={**NAMED, "enforce-eager": False})), f"{W}.config.enforce-eager"),
    ("D-20", booster("m", fit(config={**NAMED, "enable-lora": None})), f"{W}.config.enable-lora"),
    ("D-20", booster("m", fit(config={**NAMED, "hf-overrides": {"a": 1}})), f"{W}.config.hf-overrides"),
    ("does not serve", booster("m", fit(config={})), f"{W}.config"),
    ("does not serve", booster("m", fit(config={"served_model_name": "m"})), f"{W}.config"),
    ("port 8000", booster("m", fit(config={**NAMED, "port": 9000})), f"{W}.config.port"),
    ("D-21", booster("m", fit(server={"affinity": AFFINITY})), f"{W}.affinity"),
    ("D-26", booster("m", fit(config={**NAMED, "chat-template": "${MODEL_NAME}"})), f"{B}.workers"),
    ("D-26", booster("m", fit(env=[{"name": "A", "value": "${B}"}])), f"{B}.env"),
    ("D-30", booster("m", fit(env=[{"name": "POD_NAME", "value": "x"}])), f"{B}.env[0]"),
    ("D-30", booster("m", fit(env=[{"name": "REDIS_HOST", "value": "x"}])), f"{B}.env[0]"),
    ("D-01", booster("m", fit(routeWeight=10), fit("c", routeWeight=20)), f"{B}.routeWeight"),
    ("D-01", booster("m", fit(loraAdapters=[ADAPTER]), fit("c")), f"{B}.loraAdapters"),
    (
        "D-25",
        booster("m", fit(scalingCost=1, maxReplicas=2), autoscalingPolicy=POLICY),
        "spec.costExpansionRatePercent",
    ),
    (
        "D-27",
        booster("m", fit(scalingCost=1, maxReplicas=2), autoscalingPolicy=POLICY, costExpansionRatePercent=0),
        "spec.costExpansionRatePercent",
    ),
    *(
        (
            f"ignores valueFrom of {name}",
            booster("m", fit(env=[{"name": "A", "value": "b"}, {"name": name, "valueFrom": ELSEWHERE}])),
            f"{B}.env[1]",
        )
        for name in ("RUNTIME_URL", "RUNTIME_METRICS_PATH", "RUNTIME_PORT")
    ),
    ("D-02", booster("m", pair()), f"{B}.type"),
    ("does not support SGLang", booster("m", fit(type="SGLang")), f"{B}.type"),
]
WARNINGS: list[tuple[str, Object, str]] = [
    ("D-13", booster("m", fit()), f"{W}.pods"),
    ("multi-node-serving.sh", booster("m", fit(server={"pods": 2})), f"{W}.pods"),
    ("HF_AUTH_TOKEN", booster("m", fit(env=[{"name": "HF_AUTH_TOKEN", "value": "x"}])), f"{B}.env"),
    ("ACCESS_KEY, SECRET_KEY", booster("m", fit(env=KEYS)), f"{B}.env"),
]


def found(document: Object, **options: Any) -> list[Any]:
    return list(fleet_of(document, realization=Realization.OPERATOR, **options).problems)


@pytest.mark.parametrize(("what", "document", "path"), ERRORS, ids=lambda value: str(value)[:30])
def test_what_cannot_work_is_refused(what: str, document: Object, path: str) -> None:
    problems = [problem for problem in found(document) if problem.is_error]
    ours = [problem for problem in problems if problem.path == path]
    assert any(what in problem.reason for problem in ours), list(map(str, problems))
    assert all("Kthena's controller" in problem.reason for problem in ours)
    assert all("realization 'native'" in problem.reason for problem in ours)


@pytest.mark.parametrize(("what", "document", "path"), WARNINGS, ids=lambda value: str(value)[:30])
def test_what_is_lost_is_told(what: str, document: Object, path: str) -> None:
    problems = found(document)
    assert any(what in problem.reason for problem in problems if problem.path == path), list(map(str, problems))
    assert not [str(problem) for problem in problems if problem.is_error]


@pytest.mark.parametrize(("what", "document", "path"), ERRORS, ids=lambda value: str(value)[:30])
def test_natively_all_of_it_works(what: str, document: Object, path: str) -> None:
    assert what
    assert path
    assert [str(problem) for problem in fleet_of(document).problems if problem.is_error] == []


def test_the_booster_is_created_and_its_pods_are_planned() -> None:
    document = booster("m", fit(minReplicas=2, server={"resources": {"limits": {"nvidia.com/gpu": "1"}}}))
    fleet = fleet_of(document, realization=Realization.OPERATOR)
    (item,) = fleet.rendered
    kinds = {body["kind"] for body in item.objects}
    assert kinds == {"ModelBooster", "Service"}, "the controllers make no Services for clients"
    (written,) = [body for body in item.objects if body["kind"] == "ModelBooster"]
    assert written["spec"] == document["spec"]
    assert "kthena" in item.requires
    (workload,) = item.workloads
    assert workload.operated
    assert [(demand.pods, demand.requests["nvidia.com/gpu"]) for demand in workload.pods] == [(2, Decimal(1))]


@pytest.mark.parametrize(
    "options",
    [{"overrides": PodOverrides(labels={"a": "b"})}, {"scheduler_name": "own"}, {"loader_image": "own:v1"}],
    ids=str,
)
def test_options_that_do_not_reach_the_pods_are_refused(options: Object) -> None:
    problems = [problem.reason for problem in found(booster("m", fit()), **options) if problem.is_error]
    (name,) = options
    assert any(name in reason for reason in problems)
