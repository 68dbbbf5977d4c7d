"""What the controllers make of a booster, as the Kthena spec tells it (section 2, LITERAL)."""

import pytest

from components.families.kthena.booster.literal.golang import format_duration, format_value
from tests.families.kthena.booster.support import (
    GROUP,
    POLICY,
    QUICK_START,
    SERVING,
    Object,
    backend,
    booster,
    engine_of,
    literal,
    pair,
    pod_of,
    role_of,
    worker,
)

CACHED: Object = {"cacheURI": "hostpath:///c"}
CONFIG: Object = {"config": {}}


def kinds(document: Object) -> list[tuple[str, str]]:
    return [(body["kind"], body["metadata"]["name"]) for body in literal(document).objects]


def test_the_quick_start() -> None:
    serving, server, route = literal(booster("demo", backend("backend1", **QUICK_START))).objects
    assert serving["spec"]["schedulerName"] == ""
    assert serving["spec"]["template"]["restartGracePeriodSeconds"] == 60
    spread = serving["spec"]["topologySpreadConstraints"][0]["labelSelector"]["matchLabels"]
    assert spread == {f"{SERVING}/name": "demo"}, "which no pod has"
    assert engine_of(serving)["command"][:5] == [
        *("python", "-m", "vllm.entrypoints.openai.api_server", "--model"),
        "/tmp/cache/18488ba95d6e1baca4a2755a6748053e",
    ]
    assert pod_of(serving)["initContainers"][0]["image"] == "kthena/downloader:latest"
    assert pod_of(serving)["containers"][0]["image"] == "kthena/runtime:latest"
    assert server["spec"]["trafficPolicy"] == {"retry": {"attempts": 5, "retryInterval": "0s"}}
    assert route["spec"]["modelName"] == "demo"


def test_owners() -> None:
    flags = {}
    for body in literal(booster("m", backend(workers=[worker(**CONFIG)], **CACHED))).objects:
        (owner,) = body["metadata"]["ownerReferences"]
        assert (owner["kind"], owner["name"]) == ("ModelBooster", "m")
        flags[body["kind"]] = (owner.get("controller"), owner.get("blockOwnerDeletion"))
    assert flags == {"ModelServing": (None, None), "ModelServer": (True, True), "ModelRoute": (None, None)}


def test_the_revision_is_on_the_pods_and_changes_with_any_field() -> None:
    first, second = (
        literal(booster("m", backend(workers=[worker(**CONFIG)], routeWeight=weight, **CACHED))).objects[0]
        for weight in (1, 2)
    )
    labels = [role_of(body)["entryTemplate"]["metadata"]["labels"][f"{GROUP}/revision"] for body in (first, second)]
    assert labels[0] != labels[1]  # D-23
    assert labels[0] == first["metadata"]["labels"][f"{GROUP}/revision"]


def test_all_servers_select_all_pods() -> None:
    parts = [backend(name, workers=[worker(**CONFIG)], **CACHED) for name in ("b", "c")]
    selectors = [
        body["spec"]["workloadSelector"]["matchLabels"]
        for body in literal(booster("m", *parts)).objects
        if body["kind"] == "ModelServer"
    ]
    assert selectors[0] == selectors[1]  # D-01
    assert list(selectors[0]) == [f"{GROUP}/model-uid"]


def test_prefill_and_decode() -> None:
    transfer = '{"kv_connector": "MooncakeConnectorV1"}'
    sides: Object = {"config": {"kv-transfer-config": transfer}, "replicas": 1, "pods": 4}
    serving, server, _ = literal(booster("m", pair(prefill=sides, decode=sides, **CACHED))).objects
    for place, name in enumerate(("prefill", "decode")):
        role = role_of(serving, place)
        assert (role["name"], role["workerReplicas"], role["workerTemplate"]) == (
            name,
            0,
            {"spec": {"containers": []}},
        )
        assert "metadata" not in role["entryTemplate"]  # D-02
        terms = pod_of(serving, place)["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
        assert terms["nodeSelectorTerms"][0]["matchExpressions"][0]["values"] == ["Ascend910"]  # D-24
    assert serving["spec"]["schedulerName"] == "volcano"
    assert server["spec"]["kvConnector"] == {"type": "mooncake"}


@pytest.mark.parametrize(
    ("document", "failure", "made"),
    [
        (booster("m", backend(type="SGLang")), "SGLang", []),
        (booster("m", backend(**CACHED)), "D-05", ["ModelServing"]),
        (
            booster("m", backend(workers=[worker(config={"x": "${NOBODY}"})], **CACHED)),
            "D-26",
            [],
        ),
        (booster("m", backend(workers=[worker(config={"x": "${OPEN"})], **CACHED)), "D-26", []),
        (
            booster("m", backend(workers=[worker(**CONFIG)], scalingCost=1, **CACHED), autoscalingPolicy=POLICY),
            "D-25",
            ["ModelServing", "ModelServer", "ModelRoute"],
        ),
        (
            booster(
                "m",
                backend("a", workers=[worker(**CONFIG)], **CACHED),
                backend("b", type="SGLang", workers=[worker(**CONFIG)]),
            ),
            "SGLang",
            [],
        ),
    ],
)
def test_where_they_give_up(document: Object, failure: str, made: list[str]) -> None:
    conversion = literal(document)
    assert failure in conversion.failure
    assert [body["kind"] for body in conversion.objects] == made


def test_their_own_names_are_replaced_in_strings_of_the_user() -> None:
    config = {"x": "${MODEL_NAME}", "z": "a-${BACKEND_NAME}-b"}
    serving = literal(booster("m", backend(workers=[worker(config=config)], **CACHED))).objects[0]
    command = engine_of(serving)["command"]
    assert (command[command.index("--x") + 1], command[command.index("--z") + 1]) == ("m", "a-b-b")  # D-26


def test_policies() -> None:
    parts = [backend(name, workers=[worker(**CONFIG)], scalingCost=2, **CACHED) for name in ("b", "c")]
    document = booster("m", *parts, autoscalingPolicy=POLICY, costExpansionRatePercent=0)
    policy, binding = literal(document).objects[-2:]
    assert (policy["kind"], policy["metadata"]["name"]) == ("AutoscalingPolicy", "m")
    # Spec 2.8: empty sub-objects, so that a panic is always on.
    assert policy["spec"]["behavior"] == {
        "scaleUp": {"stablePolicy": {}, "panicPolicy": {"period": "0s"}},
        "scaleDown": {},
    }
    optimizer = binding["spec"]["optimizerConfiguration"]
    assert "costExpansionRatePercent" not in optimizer  # D-27
    assert [(each["target"]["targetRef"]["name"], each["cost"]) for each in optimizer["params"]] == [
        ("m-b", 2),
        ("m-c", 2),
    ]
    assert all(each["target"]["metricEndpoint"] == {} for each in optimizer["params"])


def test_a_policy_of_a_backend() -> None:
    document = booster("m", backend(workers=[worker(**CONFIG)], maxReplicas=3, autoscalingPolicy=POLICY, **CACHED))
    assert kinds(document)[-2:] == [("AutoscalingPolicy", "m-b"), ("AutoscalingPolicyBinding", "m-b")]
    scaling = literal(document).objects[-1]["spec"]["scalingConfiguration"]
    assert (scaling["minReplicas"], scaling["maxReplicas"]) == (1, 3)
    assert scaling["target"]["additionalMatchLabels"] == {f"{SERVING}/role": "leader"}


@pytest.mark.parametrize(
    ("value", "text"),
    [  # Go's fmt, %v of what encoding/json reads
        (0, "0"),
        (-0.0, "-0"),
        (1e20, "1e+20"),
        (1e21, "1e+21"),
        (123456.5, "123456.5"),
        (1234567.5, "1.2345675e+06"),
        (100000, "100000"),
        (0.5, "0.5"),
        (0.00012, "0.00012"),
        (0.000012, "1.2e-05"),
        (9007199254740993, "9.007199254740992e+15"),
        ({"a": {"b": None}}, "map[a:map[b:<nil>]]"),
        ([[], {}], "[[] map[]]"),
        ("", ""),
    ],
)
def test_values_as_go_writes_them(value: object, text: str) -> None:
    assert format_value(value) == text


@pytest.mark.parametrize(
    ("written", "text"),
    [  # Go's time.Duration.String
        ("0", "0s"),
        ("60s", "1m0s"),
        ("90m", "1h30m0s"),
        ("1.5s", "1.5s"),
        ("100ms", "100ms"),
        ("1500us", "1.5ms"),
        ("1ns", "1ns"),
        ("-5s", "-5s"),
        ("2h45m30.5s", "2h45m30.5s"),
    ],
)
def test_durations_as_go_writes_them(written: str, text: str) -> None:
    assert format_duration(written) == text
