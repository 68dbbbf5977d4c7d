"""What the pods of a booster have: caches, loaders, variables, placement, the runtime (Kthena spec 2.2, 2.4, 2.5)."""

from typing import Any

import pytest

from components.families.kthena.booster.context import ExpansionOptions
from components.fleet.options import ModelCache
from tests.families.kthena.booster.support import (
    CONTROLLERS,
    GROUP,
    SERVING,
    Object,
    backend,
    booster,
    engine_of,
    expanded,
    literal,
    pair,
    pod_of,
    reported,
    role_of,
    words_of,
    worker,
)

SECRET = [{"secretRef": {"name": "keys"}}]
AFFINITY: Object = {
    "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchExpressions": [{"key": "gpu", "operator": "In", "values": ["l4"]}]}]
        }
    }
}


def serving(options: ExpansionOptions | None = None, **fields: Any) -> Object:
    """The ModelServing of a booster of one backend."""
    return expanded(booster("m", backend(**fields)), options)["ModelServing", "m-b"]


def names(env: list[Object]) -> list[str]:
    return [each["name"] for each in env]


# -- the cache


@pytest.mark.parametrize(
    ("uri", "folder", "volume"),
    [
        (None, "/weights", {"emptyDir": {}}),  # D-03
        ("hostpath:///tmp/c", "/tmp/c", {"hostPath": {"path": "/tmp/c", "type": "DirectoryOrCreate"}}),
        ("hostpath:///tmp/c/", "/tmp/c", {"hostPath": {"path": "/tmp/c", "type": "DirectoryOrCreate"}}),
        ("hostpath://tmp/c", "/tmp/c", {"hostPath": {"path": "/tmp/c", "type": "DirectoryOrCreate"}}),
        ("pvc://claim", "/claim", {"persistentVolumeClaim": {"claimName": "claim"}}),  # D-04
    ],
)
def test_a_cache_is_mounted_at_an_absolute_path(uri: str | None, folder: str, volume: Object) -> None:
    given: Object = {"cacheURI": uri} if uri else {}
    pod = pod_of(serving(**given))
    assert pod["volumes"] == [{"name": "b-weights", **volume}]
    (loader,), (engine,) = pod["initContainers"], pod["containers"]
    mount = {"name": "b-weights", "mountPath": folder}
    assert loader["volumeMounts"] == engine["volumeMounts"] == [mount]
    target = loader["args"][loader["args"].index("--output-dir") + 1]
    assert target == words_of(engine)[words_of(engine).index("--model") + 1]
    assert target.startswith(f"{folder}/")


@pytest.mark.parametrize(
    ("uri", "folder", "claim"), [(None, "", None), ("pvc://claim", "claim", "claim"), ("hostpath:///c", "/c", None)]
)
def test_the_controllers_take_the_text_as_it_is(uri: str | None, folder: str, claim: str | None) -> None:
    given: Object = {"cacheURI": uri} if uri else {}
    found = literal(booster("m", backend(**given))).objects[0]
    pod = pod_of(found)
    assert pod["containers"][1]["volumeMounts"][0]["mountPath"] == folder
    assert pod["volumes"][0].get("persistentVolumeClaim", {}).get("claimName") == claim


@pytest.mark.parametrize(
    ("cache", "volume"),
    [
        (ModelCache(claim="shared"), {"persistentVolumeClaim": {"claimName": "shared"}}),
        (ModelCache(host_path="/d"), {"hostPath": {"path": "/d", "type": "DirectoryOrCreate"}}),
    ],
)
def test_the_cache_of_the_environment_is_for_backends_without_one(cache: ModelCache, volume: Object) -> None:
    assert pod_of(serving(ExpansionOptions(cache=cache)))["volumes"] == [{"name": "b-weights", **volume}]
    own = pod_of(serving(ExpansionOptions(cache=cache), cacheURI="pvc://own"))["volumes"]
    assert own == [{"name": "b-weights", "persistentVolumeClaim": {"claimName": "own"}}]


@pytest.mark.parametrize(
    ("resources", "shared"),
    [
        (None, False),
        ({"limits": {"nvidia.com/gpu": 1}}, False),
        ({"limits": {"nvidia.com/gpu": "2"}}, True),
        ({"requests": {"huawei.com/ascend-1980": "4"}}, True),
        ({"limits": {"cpu": "8", "memory": "64Gi"}}, False),
    ],
)
def test_processes_of_several_devices_share_memory(resources: Object | None, shared: bool) -> None:
    made = serving(workers=[worker(resources=resources) if resources else worker()])
    pod = pod_of(made)
    assert ({"name": "dshm", "emptyDir": {"medium": "Memory"}} in pod["volumes"]) is shared
    assert ({"name": "dshm", "mountPath": "/dev/shm"} in engine_of(made)["volumeMounts"]) is shared


# -- what fills it


def test_the_downloader_gets_what_it_reads_and_nothing_else() -> None:
    token = {"name": "HF_AUTH_TOKEN", "valueFrom": {"secretKeyRef": {"name": "hub", "key": "token"}}}
    env = [{"name": "HF_HUB_OFFLINE", "value": "1"}, {"name": "ENDPOINT", "value": ""}, token]
    (loader,) = pod_of(serving(env=env, envFrom=SECRET))["initContainers"]
    assert (loader["name"], loader["env"], loader["envFrom"]) == ("m-model-downloader", [token], SECRET)


def test_the_controllers_pass_two_variables_on() -> None:
    env = [{"name": "HF_AUTH_TOKEN", "value": "x"}, {"name": "HF_ENDPOINT", "value": "https://e"}]
    found = literal(booster("m", backend(env=env, cacheURI="hostpath:///c"))).objects[0]
    assert pod_of(found)["initContainers"][0]["env"] == [env[1]]


def test_each_adapter_has_a_loader() -> None:
    adapters = [{"name": "a", "artifactURL": "hf://org/a"}, {"name": "c", "artifactURL": "hf://org/c"}]
    loaders = pod_of(serving(loraAdapters=adapters))["initContainers"]
    assert [loader["name"] for loader in loaders] == [
        "m-model-downloader",
        "m-lora-downloader-0",
        "m-lora-downloader-1",
    ]
    assert [loader["args"][1] for loader in loaders] == ["hf://org/name", "hf://org/a", "hf://org/c"]
    assert len({loader["args"][3] for loader in loaders}) == 3


@pytest.mark.parametrize("loader", ["", "mirror.example/downloader:v1"])
def test_the_loader_can_be_another_image(loader: str) -> None:
    (container,) = pod_of(serving(ExpansionOptions(loader_image=loader)))["initContainers"]
    assert container["image"] == (loader or "ghcr.io/volcano-sh/downloader:v0.1.0")


# -- variables


def test_the_users_value_wins_and_stands_once() -> None:
    env = [{"name": "VLLM_USE_V1", "value": "0"}, {"name": "POD_NAME", "value": "own"}]
    for options in (None, CONTROLLERS):
        found = engine_of(serving(options, env=env))["env"]
        assert found[:2] == env
        assert len(set(names(found))) == len(found)
        assert names(found)[2] == "NAMESPACE"


def test_the_controllers_write_both() -> None:
    env = [{"name": "VLLM_USE_V1", "value": "0"}]
    found = names(engine_of(literal(booster("m", backend(env=env, cacheURI="hostpath:///c"))).objects[0])["env"])
    assert found == [
        *("VLLM_USE_V1", "POD_NAME", "NAMESPACE", "VLLM_USE_V1", "REDIS_HOST", "REDIS_PORT", "REDIS_PASSWORD")
    ]


def test_secrets_are_referred_to_and_optional() -> None:
    env = {each["name"]: each for each in engine_of(serving(CONTROLLERS))["env"]}
    assert env["REDIS_PASSWORD"]["valueFrom"]["secretKeyRef"] == {
        "key": "REDIS_PASSWORD",
        "name": "redis-secret",
        "optional": True,
    }
    assert "REDIS_PASSWORD" not in names(engine_of(serving())["env"]), "which only the runtime reads"


# -- the runtime


def test_the_runtime_is_for_the_controllers() -> None:
    assert names(pod_of(serving())["containers"]) == ["engine"]
    runtime, _ = pod_of(serving(CONTROLLERS, envFrom=SECRET))["containers"]
    assert runtime["args"] == [
        *("--port", "8100", "--engine", "vllm", "--engine-base-url", "http://localhost:8000"),
        *("--engine-metrics-path", "/metrics", "--pod", "$(POD_NAME).$(NAMESPACE)", "--model", "m"),
    ]
    assert runtime["envFrom"] == SECRET
    assert "volumeMounts" not in runtime


def test_the_runtime_is_told_by_variables() -> None:
    env = [
        {"name": "RUNTIME_PORT", "value": "8200"},
        {"name": "RUNTIME_URL", "value": "http://localhost:1"},
        {"name": "RUNTIME_METRICS_PATH", "value": "/m"},
    ]
    runtime, _ = pod_of(serving(CONTROLLERS, env=env))["containers"]
    assert runtime["args"][1::2] == ["8200", "vllm", "http://localhost:1", "/m", "$(POD_NAME).$(NAMESPACE)", "m"]
    assert runtime["ports"] == [{"containerPort": 8200}]
    assert runtime["readinessProbe"]["httpGet"] == {"path": "/health", "port": 8200}


def test_a_port_that_is_no_number_counts_as_not_written() -> None:
    runtime, _ = pod_of(serving(CONTROLLERS, env=[{"name": "RUNTIME_PORT", "value": "http"}]))["containers"]
    assert runtime["ports"] == [{"containerPort": 8100}]


@pytest.mark.parametrize("name", ["RUNTIME_URL", "RUNTIME_METRICS_PATH"])
def test_what_comes_from_elsewhere_is_put_in_by_the_kubelet(name: str) -> None:
    """Kthena's controllers read ``value`` alone, so that the argument is empty (spec 2.2)."""
    source = {"secretKeyRef": {"name": "runtime", "key": "where"}}
    runtime, _ = pod_of(serving(CONTROLLERS, env=[{"name": name, "valueFrom": source}]))["containers"]
    usual = {"RUNTIME_URL": "http://localhost:8000", "RUNTIME_METRICS_PATH": "/metrics"}
    url, path = (f"$({each})" if each == name else default for each, default in usual.items())
    assert runtime["args"][5:8:2] == [url, path]
    assert {"name": name, "valueFrom": source} in runtime["env"]


@pytest.mark.parametrize(
    ("source", "warned"),
    [({"valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}, 1), ({"value": "8200"}, 0)],
)
def test_a_port_from_elsewhere_is_a_warning(source: Object, warned: int) -> None:
    found = reported(booster("m", backend(workers=[worker()], env=[{"name": "RUNTIME_PORT", **source}])))
    paths = [problem.path for problem in found if "RUNTIME_PORT has no effect" in problem.reason]
    assert paths == ["spec.backends[0].env[0]"] * warned


def test_the_runtimes_of_a_pair_both_have_the_variables_of_their_sources() -> None:
    """Upstream gives them to the runtime beside decode alone (spec 2.5)."""
    made = expanded(booster("m", pair(envFrom=SECRET)), CONTROLLERS)["ModelServing", "m-b"]
    for place in (0, 1):
        runtime, _ = pod_of(made, place)["containers"]
        assert (runtime["name"], runtime["envFrom"]) == ("runtime", SECRET)


@pytest.mark.parametrize(("made", "role"), [(backend, "leader"), (pair, "decode")])
def test_an_autoscaler_reads_a_role_that_is_there(made: Any, role: str) -> None:
    """Upstream always reads ``leader``, which no pair has (spec 2.8, 4.2)."""
    policy = {"metrics": [{"metricName": "kthena:num_requests_waiting", "targetValue": 10}]}
    children = expanded(booster("m", made(maxReplicas=3, autoscalingPolicy=policy)))
    target = children["AutoscalingPolicyBinding", "m-b"]["spec"]["scalingConfiguration"]["target"]
    assert target["additionalMatchLabels"] == {"modelserving.volcano.sh/role": role}
    assert role in [each["name"] for each in children["ModelServing", "m-b"]["spec"]["template"]["roles"]]


# -- roles


@pytest.mark.parametrize(
    ("fields", "replicas", "workers"),
    [({}, 1, 0), ({"replicas": 3, "pods": 2}, 3, 1), ({"replicas": 0}, 0, 0)],  # D-06
)
def test_replicas_and_pods_are_one_unless_they_are_said(fields: Object, replicas: int, workers: int) -> None:
    role = role_of(serving(workers=[worker(**fields)]))
    assert (role["replicas"], role["workerReplicas"]) == (replicas, workers)


def test_omitted_is_none_at_all_for_the_controllers() -> None:
    role = role_of(literal(booster("m", backend(cacheURI="hostpath:///c"))).objects[0])
    assert (role["replicas"], role["workerReplicas"]) == (0, -1)


def test_the_revision_of_the_booster_is_on_no_pod() -> None:
    first, second = (
        expanded(booster("m", backend(routeWeight=weight, maxReplicas=2, autoscalingPolicy=POLICY)))
        for weight in (10, 20)
    )
    assert first["ModelServing", "m-b"] == second["ModelServing", "m-b"]  # D-23
    assert first["ModelRoute", "m"] != second["ModelRoute", "m"]
    assert f"{GROUP}/revision" not in role_of(first["ModelServing", "m-b"])["entryTemplate"]["metadata"]["labels"]


POLICY: Object = {"metrics": [{"metricName": "kthena:num_requests_waiting", "targetValue": 10}]}


def test_affinity_is_honoured() -> None:
    made = serving(workers=[worker(affinity=AFFINITY, pods=2)])
    assert pod_of(made)["affinity"] == pod_of(made, part="workerTemplate")["affinity"] == AFFINITY  # D-21


def test_prefill_and_decode() -> None:
    document = booster("m", pair(prefill={"affinity": AFFINITY}, decode={"replicas": 2, "pods": 2}))
    found = expanded(document)
    made = found["ModelServing", "m-b"]
    assert [(role_of(made, place)["name"], role_of(made, place)["replicas"]) for place in (0, 1)] == [
        ("prefill", 1),
        ("decode", 2),
    ]
    assert pod_of(made, 0)["affinity"] == AFFINITY
    assert "affinity" not in pod_of(made, 1), "and no Ascend nodes for anybody (D-24)"
    assert role_of(made, 1)["workerReplicas"] == 1, "pods count here too (D-24)"
    server = found["ModelServer", "m-b"]["spec"]
    selected = server["workloadSelector"]["matchLabels"]
    assert selected[f"{GROUP}/backend-name"] == "b"  # D-01
    for place in (0, 1):
        assert selected.items() <= role_of(made, place)["entryTemplate"]["metadata"]["labels"].items()  # D-02
    assert server["workloadSelector"]["pdGroup"] == {
        "groupKey": f"{SERVING}/group-name",
        "prefillLabels": {f"{SERVING}/role": "prefill"},
        "decodeLabels": {f"{SERVING}/role": "decode"},
    }


@pytest.mark.parametrize(
    ("connector", "word"),
    # Spec 2.6; Kthena's router has these four (spec 5).
    [("MooncakeConnectorV1", "mooncake"), ("LMCacheConnectorV1", "lmcache"), ("NixlConnector", "nixl")],
)
def test_the_router_is_told_how_the_cache_goes(connector: str, word: str) -> None:
    sides = [{"config": {"kv-transfer-config": {"kv_connector": connector, "kv_role": role}}} for role in ROLES]
    server = expanded(booster("m", pair(prefill=sides[0], decode=sides[1])))["ModelServer", "m-b"]
    assert server["spec"]["kvConnector"] == {"type": word}


ROLES = ("kv_producer", "kv_consumer")


def test_a_pair_that_says_nothing_is_told_how_to_hand_over() -> None:
    found = expanded(booster("m", pair()))
    made = found["ModelServing", "m-b"]
    roles = [words_of(engine_of(made, place)) for place in (0, 1)]
    for words, role in zip(roles, ROLES, strict=True):
        assert f'"{role}"' in words[words.index("--kv-transfer-config") + 1]
    assert found["ModelServer", "m-b"]["spec"]["kvConnector"] == {"type": "nixl"}
    hosts = [each for each in engine_of(made)["env"] if each["name"] == "VLLM_NIXL_SIDE_CHANNEL_HOST"]
    assert hosts[0]["valueFrom"] == {"fieldRef": {"fieldPath": "status.podIP"}}


def test_what_is_in_the_users_strings_is_never_a_template() -> None:
    config = {"x-flag": "${MODEL_NAME} $(VAR) `x` \"y\" 'z' \n"}
    env = [{"name": "A", "value": "${BACKEND_NAME}"}]
    engine = engine_of(serving(workers=[worker(config=config)], env=env))
    assert config["x-flag"] in words_of(engine)  # D-26
    assert engine["env"][0] == env[0]
