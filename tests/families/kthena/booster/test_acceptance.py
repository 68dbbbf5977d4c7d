"""The minimal checks of the Kthena spec (section 12: 1, 2, 3), in the fixed form and in the literal one."""

import pytest

from tests.families.kthena.booster.support import (
    CONTROLLERS,
    GROUP,
    QUICK_START,
    Object,
    backend,
    booster,
    engine_of,
    expanded,
    literal,
    pod_of,
    role_of,
    value_behind,
    words_of,
    worker,
)

LORA = {"name": "sql", "artifactURL": "hf://org/sql"}
DIGEST = "18488ba95d6e1baca4a2755a6748053e"  # md5 of hf://Qwen/Qwen2.5-0.5B-Instruct (spec 2.3)


def test_the_quick_start() -> None:
    found = expanded(booster("demo", backend("backend1", **QUICK_START)), CONTROLLERS)
    assert set(found) == {
        ("ModelServing", "demo-backend1"),
        ("ModelServer", "demo-backend1"),
        ("ModelRoute", "demo"),
    }
    assert found["ModelServer", "demo-backend1"]["spec"]["model"] == "Qwen2.5-0.5B-Instruct"
    route = found["ModelRoute", "demo"]["spec"]
    assert route == {
        "modelName": "demo",
        "rules": [{"name": "default", "targetModels": [{"modelServerName": "demo-backend1", "weight": 100}]}],
    }
    serving = found["ModelServing", "demo-backend1"]
    assert (role_of(serving)["name"], role_of(serving)["replicas"], role_of(serving)["workerReplicas"]) == (
        "leader",
        1,
        0,
    )
    assert [each["name"] for each in pod_of(serving)["containers"]] == ["runtime", "engine"]
    assert value_behind(words_of(engine_of(serving)), "--model") == f"/tmp/cache/{DIGEST}"


def test_two_weighted_backends_that_share_an_adapter() -> None:
    backends = [backend(name, routeWeight=weight, loraAdapters=[LORA]) for name, weight in (("x", 40), ("y", 60))]
    match: Object = {"headers": {"users": {"exact": "john"}}}
    route = expanded(booster("m", *backends, modelMatch=match))["ModelRoute", "m"]["spec"]
    targets = [{"modelServerName": "m-x", "weight": 40}, {"modelServerName": "m-y", "weight": 60}]
    assert route["loraAdapters"] == ["sql"]
    assert route["rules"] == [
        {"name": "default", "modelMatch": {**match, "body": {"model": "m"}}, "targetModels": targets},
        {"name": "sql", "modelMatch": {**match, "body": {"model": "sql"}}, "targetModels": targets},
    ]


def test_an_adapter_leads_to_the_backends_that_have_it() -> None:
    other = {"name": "chat", "artifactURL": "hf://org/chat"}
    document = booster("m", backend("x", loraAdapters=[LORA, other]), backend("y", loraAdapters=[LORA]))
    rules = expanded(document)["ModelRoute", "m"]["spec"]["rules"]
    names = [(rule["name"], [each["modelServerName"] for each in rule["targetModels"]]) for rule in rules]
    assert names == [("default", ["m-x", "m-y"]), ("chat", ["m-x"]), ("sql", ["m-x", "m-y"])]


def test_a_single_backend_has_one_rule_whatever_it_matches() -> None:
    match: Object = {"uri": {"prefix": "/v1/"}, "body": {"model": "other"}}
    document = booster("m", backend(loraAdapters=[LORA]), modelMatch=match)
    (rule,) = expanded(document)["ModelRoute", "m"]["spec"]["rules"]
    assert (rule["name"], rule["modelMatch"]) == ("default", match)


@pytest.mark.parametrize(
    ("image", "command", "joins"),
    [
        # vllm-project/vllm: since 0.19 the image has no Ray; the engines' own table has the ways.
        ("vllm/vllm-openai:v0.20.0", ["vllm", "serve"], "--master-addr"),
        ("vllm/vllm-openai:v0.11.0", ["sh", "-c"], "ray start"),
    ],
)
def test_two_pods_are_one_replica(image: str, command: list[str], joins: str) -> None:
    config = {"tensor-parallel-size": 8, "pipeline-parallel-size": 2}
    document = booster("m", backend(workers=[worker(image=image, pods=2, config=config)]))
    serving = expanded(document)["ModelServing", "m-b"]
    role = role_of(serving)
    assert role["workerReplicas"] == 1
    (entry,), (helper,) = (pod_of(serving, part=part)["containers"] for part in ("entryTemplate", "workerTemplate"))
    assert (entry["command"], helper["name"], helper["image"]) == (command, "b-vllm-worker", image)
    for container in (entry, helper):
        text = " ".join(words_of(container))
        assert joins in text
    # What every pod is told of its group by whoever runs it (spec 3.2).
    assert "ENTRY_ADDRESS" in " ".join(words_of(helper))


def test_two_pods_literally() -> None:
    config = {"served-model-name": "q"}
    workers = [worker(pods=2, replicas=1, config=config, resources={"requests": {"nvidia.com/gpu": "4"}})]
    serving = literal(booster("m", backend(cacheURI="hostpath:///c", workers=workers))).objects[0]
    assert role_of(serving)["workerReplicas"] == 1
    shell, flag, script, *rest = engine_of(serving)["command"]
    assert (shell, flag) == ("bash", "-c")
    assert "multi-node-serving.sh leader --ray_cluster_size=2 --num-gpus=4 && python -m vllm" in script
    assert script.endswith("--served-model-name q --distributed_executor_backend ray")
    assert rest[0] == "--kv-events-config", "behind the script, where the engine never sees it (D-07)"
    (helper,) = pod_of(serving, part="workerTemplate")["containers"]
    assert helper["command"][2].endswith("multi-node-serving.sh worker --ray_address=$(ENTRY_ADDRESS)")


def test_what_everything_is_labelled_with() -> None:
    found = expanded(booster("m", backend("b", autoscalingPolicy=POLICY_OF_ONE, maxReplicas=2)))
    uids = set()
    for (kind, _), body in found.items():
        labels = body["metadata"]["labels"]
        assert labels[f"{GROUP}/model-name"] == "m"
        assert labels[f"{GROUP}/managed-by"] == GROUP
        assert labels[f"{GROUP}/backend-name"] == ("" if kind == "ModelRoute" else "b")
        assert set(labels[f"{GROUP}/revision"]) <= set("456789bcdf")
        uids.add(labels[f"{GROUP}/model-uid"])
    assert len(uids) == 1
    assert "ownerReferences" not in str(found), "nobody has made the booster in a cluster"


POLICY_OF_ONE: Object = {"metrics": [{"metricName": "kthena:num_requests_waiting", "targetValue": 10}]}
