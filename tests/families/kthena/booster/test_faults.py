"""What is wrong with a booster beyond its own rules, at the field and its line."""

import pytest

from components.contract.problems import Severity
from tests.families.kthena.booster.support import (
    KEYS,
    POLICY,
    Object,
    backend,
    booster,
    pair,
    problems_of,
    reported,
    worker,
)

B = "spec.backends[0]"
W = f"{B}.workers[0]"
ERRORS: list[tuple[Object, str, str]] = [
    (booster("a" * 47), "metadata.name", "must be at most 46 characters"),
    (booster("a.b"), "metadata.name", "must be lower-case letters, digits and inner '-'"),
    (booster("1a"), "metadata.name", "must be lower-case letters, digits and inner '-'"),
    (booster("m", backend("b" * 50)), f"{B}.name", "of 65 characters"),
    (booster("m", backend(type="MindIE")), f"{B}.type", "MindIE is not supported"),
    (booster("m", backend(workers=[{"type": "server"}])), f"{W}.image", "is required"),
    (booster("m", backend(workers=[worker(pods=0)])), f"{W}.pods", "must be at least 1, found 0"),
    (booster("m", backend(workers=[worker(config={"--port": 1})])), f"{W}.config", "without leading dashes"),
    (booster("m", backend(workers=[worker(config={"a b": 1})])), f"{W}.config", "has the key 'a b'"),
    (booster("m", backend(workers=[worker(config={"": 1})])), f"{W}.config", "has the key ''"),
    (booster("m", backend(cacheURI="pvc://a/b")), f"{B}.cacheURI", "the name of a claim"),
    (booster("m", backend(cacheURI="pvc://A")), f"{B}.cacheURI", "the name of a claim"),
    (booster("m", backend(cacheURI="pvc://usr")), f"{B}.cacheURI", "would hide /usr"),
    (booster("m", backend(cacheURI="hostpath:///app/")), f"{B}.cacheURI", "would hide /app"),
    (booster("m", backend(cacheURI="hostpath:///")), f"{B}.cacheURI", "must be a folder"),
    (booster("m", backend(cacheURI="hostpath:///a:b")), f"{B}.cacheURI", "must be a folder"),
    (booster("m", backend(cacheURI="hostpath:///a/../b")), f"{B}.cacheURI", "must be a folder"),
    (booster("m", backend(modelURI="s3://bucket/m")), f"{B}.modelURI", "needs ACCESS_KEY and SECRET_KEY"),  # D-22
    (booster("m", backend(modelURI="s3://bucket/m", env=KEYS[:1])), f"{B}.modelURI", "needs SECRET_KEY"),
    (
        booster("m", backend(loraAdapters=[{"name": "a", "artifactURL": "s3://bucket/a"}])),
        f"{B}.loraAdapters[0].artifactURL",
        "needs ACCESS_KEY and SECRET_KEY",
    ),
    (booster("m", backend(modelURI="pvc://c/m")), f"{B}.modelURI", "set cacheURI: pvc://c"),
    (booster("m", backend(modelURI="pvc://cc/m", cacheURI="pvc://c")), f"{B}.modelURI", "set cacheURI: pvc://cc"),
    (booster("m", backend(routeWeight=0)), f"{B}.routeWeight", "above 0 for at least one backend"),
    (
        booster("m", backend("a", loraAdapters=ADAPTERS)) if (ADAPTERS := [
            {"name": f"a{place}", "artifactURL": "hf://org/a"} for place in range(11)
        ]) else {},
        f"{B}.loraAdapters",
        "10",
    ),
    (booster("m", *(backend(f"b{place}") for place in range(17))), "spec.backends", "16"),
]  # fmt: skip
WARNINGS: list[tuple[Object, str, str]] = [
    (booster("m", name="n"), "spec.name", "has no effect"),
    (booster("m", owner="o"), "spec.owner", "has no effect"),
    (
        booster("m", backend(scalingCost=1, scaleToZeroGracePeriod="30s"), autoscalingPolicy=POLICY),
        f"{B}.scaleToZeroGracePeriod",
        "has no effect",
    ),
]
FINE = [
    booster("a" * 46),
    booster("m", backend(modelURI="s3://bucket/m", env=KEYS)),
    booster("m", backend(modelURI="s3://bucket/m", envFrom=[{"secretRef": {"name": "s"}}])),
    booster("m", backend(modelURI="pvc://c/m", cacheURI="pvc://c")),
    booster("m", backend(modelURI="pvc://c/m", cacheURI="hostpath:///c")),
    booster("m", backend("a", routeWeight=0), backend("b", routeWeight=1)),
    booster("m", backend(workers=[worker(config={})]), backend("c", workers=[worker(config=None)])),
    booster("m", pair()),
    booster("m", backend(type="SGLang")),
]


@pytest.mark.parametrize(("document", "path", "reason"), ERRORS, ids=lambda value: str(value)[-40:])
def test_an_error(document: Object, path: str, reason: str) -> None:
    found = [problem for problem in problems_of(document) if problem.is_error]
    assert [(problem.path, reason in problem.reason) for problem in found] == [(path, True)], list(map(str, found))


@pytest.mark.parametrize(("document", "path", "reason"), WARNINGS, ids=lambda value: str(value)[-40:])
def test_a_warning(document: Object, path: str, reason: str) -> None:
    found = problems_of(document)
    assert [(problem.path, problem.is_error, reason in problem.reason) for problem in found] == [(path, False, True)]


@pytest.mark.parametrize("document", FINE, ids=lambda value: str(value)[-60:])
def test_what_is_right_is_not_reported(document: Object) -> None:
    assert list(map(str, problems_of(document))) == []


def test_all_of_it_at_once() -> None:
    document = booster(
        "m",
        backend("a", cacheURI="pvc://A", workers=[worker(pods=0)]),
        backend("b", modelURI="s3://b/m", type="SGLang"),
        backend("c", type="MindIE"),
    )
    assert [problem.path for problem in problems_of(document)] == [
        "spec.backends[0].workers[0].pods",
        "spec.backends[0].cacheURI",
        "spec.backends[1].modelURI",
        "spec.backends[2].type",
    ]


def test_a_problem_has_the_line_of_its_field() -> None:
    document = booster("m", backend("b" * 50))
    (problem,) = problems_of(document)
    assert (problem.file, problem.kind, problem.name) == ("booster.yaml", "ModelBooster", "m")
    assert problem.line == 11, "the line of the name of the backend"
    assert problem.reason.startswith("becomes metadata.name of ModelServing 'm-")


def test_what_is_wrong_with_other_backends_is_told_as_well() -> None:
    """A pair that cannot talk, beside a backend of a type that nobody converts."""
    transfers: list[Object] = [
        {"kv-transfer-config": {"kv_connector": name, "kv_role": "kv_both"}}
        for name in ("NixlConnector", "LMCacheConnectorV1")
    ]
    apart = pair("b2", {"config": transfers[0]}, {"config": transfers[1]})
    found = reported(booster("m", backend("b1", type="MindIE"), apart))
    assert [(each.path, each.severity) for each in found] == [
        ("spec.backends[0].type", Severity.ERROR),
        ("spec.backends[1].workers[1].config", Severity.ERROR),
    ]
