"""TP and PP reach the engine's flags and size the group (decision 58, llmaz spec 2.9)."""

import re
from pathlib import Path
from typing import Any

import pytest

from components.fleet.words import Edition, WorkloadChoice
from tests.fleets import (
    container,
    fleet_of,
    objects,
    open_model,
    playground,
    runner,
    runtime,
    service,
    the_error,
)
from tests.kubelet import started


def model(gpus: int = 1, instance: str = "p4d.24xlarge", **params: str) -> dict[str, Any]:
    named = {**({"INSTANCE-TYPE": instance} if instance else {}), **params}
    return open_model(flavors=[{"name": "f", "limits": {"nvidia.com/gpu": gpus}, "params": named}])


def uses(backend: str, **fields: Any) -> dict[str, Any]:
    return {"backendRuntimeConfig": {"backendName": backend, **fields}}


def value(args: list[str], flag: str) -> str | None:
    assert args.count(flag) <= 1, args
    return args[args.index(flag) + 1] if flag in args else None


@pytest.mark.parametrize(
    ("backend", "flag"),
    [
        ("vllm", "--tensor-parallel-size"),
        ("sglang", "--tp-size"),
        ("tgi", "--num-shard"),
        ("tensorrt-llm", "--tp_size"),
    ],
)
def test_tensor_parallelism_has_the_flag_of_the_engine(backend: str, flag: str) -> None:
    args = container(model(4, TP="4"), playground(**uses(backend)))["args"]
    assert value(args, flag) == "4"


@pytest.mark.parametrize("backend", ["llamacpp", "ollama"])
def test_engines_that_split_by_themselves_need_none(backend: str) -> None:
    source = "ollama://q" if backend == "ollama" else "a/b"
    plain = container(open_model(source=source), playground(**uses(backend)))["args"]
    document = model(2, TP="2")
    document["spec"]["source"] = {"uri": source} if "://" in source else {"modelHub": {"modelID": source}}
    assert container(document, playground(**uses(backend)))["args"] == plain


@pytest.mark.parametrize("key", ["tp", "Tp", "TP"])
def test_the_key_is_taken_in_any_case(key: str) -> None:
    args = container(model(2, **{key: "2"}), playground())["args"]
    assert value(args, "--tensor-parallel-size") == "2"


def test_a_runtime_named_after_an_engine_is_one_whatever_its_image() -> None:
    own = runtime("vllm", image="registry.example.com/private")
    assert value(container(model(2, TP="2"), own, playground())["args"], "--tensor-parallel-size") == "2"


def test_a_flag_in_the_recommended_arguments_gives_way() -> None:
    claims = {"models": [{"name": "m"}, {"name": "d", "role": "draft"}]}
    args = container(model(4, TP="4"), open_model("d"), playground(modelClaims=claims))["args"]
    assert "-tp" not in args
    assert value(args, "--tensor-parallel-size") == "4"


@pytest.mark.parametrize("args", [["--tensor-parallel-size", "4"], ["--tensor-parallel-size=4"], ["-tp", "4"]])
def test_what_the_user_wrote_is_not_written_again(args: list[str]) -> None:
    got = container(model(4, TP="4"), playground(**uses("vllm", args=args)))["args"]
    assert got[-len(args) :] == args
    assert sum(word.startswith(("--tensor", "-tp")) for word in got) == 1


def test_what_the_user_wrote_must_agree() -> None:
    problem = the_error(model(4, TP="4"), playground(**uses("vllm", args=["--tensor-parallel-size", "2"])))
    assert problem.path == "spec.backendRuntimeConfig.args"
    assert "2" in problem.reason
    assert "4" in problem.reason


@pytest.mark.parametrize(
    ("gpus", "params", "total"),
    [
        (4, {"TP": "2"}, 4),
        (1, {"TP": "2"}, 1),
        (4, {"TP": "2", "PP": "2"}, 8),
        (8, {"TP": "16", "PP": "2"}, 16),
    ],
)
def test_the_product_must_be_the_accelerators_of_the_group(gpus: int, params: dict[str, str], total: int) -> None:
    problem = the_error(model(gpus, **params), playground())
    assert problem.path == "spec.modelClaim.modelName"
    assert "TP" in problem.reason
    assert f"{total} accelerators" in problem.reason


@pytest.mark.parametrize("text", ["0", "-1", "two", "1.5", "", "²"])
def test_a_degree_is_a_whole_number_from_one(text: str) -> None:
    problem = the_error(model(1, TP=text), playground())
    assert "TP" in problem.reason
    assert repr(text) in problem.reason


@pytest.mark.parametrize("backend", ["tgi", "llamacpp", "tensorrt-llm"])
def test_engines_that_cannot_join_pods_say_so(backend: str) -> None:
    problems = fleet_of(model(8, TP="8", PP="2"), playground(**uses(backend))).problems
    assert any(p.severity == "error" and backend in p.reason for p in problems)


def group(*documents: dict[str, Any], **options: Any) -> dict[str, Any]:
    spec: dict[str, Any] = objects(*documents, **options)["LeaderWorkerSet"]["spec"]
    return spec


def first(template: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = template["spec"]["containers"][0]
    return found


class TestGroup:
    PIPELINE = model(8, TP="8", PP="2")

    def test_pipeline_parallelism_makes_a_group_that_starts_together(self) -> None:
        spec = group(self.PIPELINE, playground(replicas=3))
        assert spec["replicas"] == 3
        assert spec["startupPolicy"] == "LeaderCreated"
        assert spec["leaderWorkerTemplate"]["size"] == 2

    def test_leader_and_workers_have_the_same_resources_and_volumes(self) -> None:
        template = group(self.PIPELINE, playground())["leaderWorkerTemplate"]
        leader, worker = template["leaderTemplate"]["spec"], template["workerTemplate"]["spec"]
        for key in ("volumes", "initContainers", "affinity", "tolerations", "schedulerName"):
            assert leader[key] == worker[key]
        for key in ("image", "resources", "volumeMounts"):
            assert leader["containers"][0][key] == worker["containers"][0][key]
        assert leader["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] == 8

    def test_only_the_leader_serves(self) -> None:
        template = group(self.PIPELINE, playground())["leaderWorkerTemplate"]
        assert {"ports", "readinessProbe", "livenessProbe", "startupProbe", "lifecycle"} <= set(
            first(template["leaderTemplate"])
        )
        assert not {"ports", "readinessProbe", "livenessProbe", "startupProbe"} & set(
            first(template["workerTemplate"])
        )

    def test_workers_stay_until_the_leader_has_no_requests(self) -> None:
        template = group(self.PIPELINE, playground())["leaderWorkerTemplate"]
        own, followed = (
            first(template[part])["lifecycle"]["preStop"]["exec"]["command"][2]
            for part in ("leaderTemplate", "workerTemplate")
        )
        assert '"http://localhost:8080/metrics"' in own
        assert '"http://$LWS_LEADER_ADDRESS:8080/metrics"' in followed
        assert {
            template[part]["spec"]["terminationGracePeriodSeconds"] for part in ("leaderTemplate", "workerTemplate")
        } == {130}

    def test_vllm_is_joined_by_ray(self) -> None:
        template = group(self.PIPELINE, playground())["leaderWorkerTemplate"]
        leader, worker = first(template["leaderTemplate"]), first(template["workerTemplate"])
        script, _, *serve = leader["args"]
        assert leader["command"] == worker["command"] == ["sh", "-c"]
        assert "\nray start --head --port=6379 " in script
        assert "LWS_GROUP_SIZE" in script
        assert script.endswith('\nexec "$@"\n')
        assert serve[:4] == ["python3", "-m", "vllm.entrypoints.openai.api_server", "--model"]
        for flag, number in (("--tensor-parallel-size", "8"), ("--pipeline-parallel-size", "2"), ("--port", "8080")):
            assert value(serve, flag) == number
        assert 'ray start --address="$LWS_LEADER_ADDRESS:6379" --block' in worker["args"][0]

    def test_sglang_is_joined_by_its_own_flags(self) -> None:
        """SGLang's multi-node flags; both pods run the same command (LWS spec 1.11)."""
        template = group(self.PIPELINE, playground(**uses("sglang", version="v0.5.4")))["leaderWorkerTemplate"]
        leader, worker = first(template["leaderTemplate"]), first(template["workerTemplate"])
        assert leader["args"] == worker["args"]
        assert leader["command"] == worker["command"] == ["python3", "-m", "sglang.launch_server"]
        assert value(leader["args"], "--dist-init-addr") == "$(LWS_LEADER_ADDRESS):20000"
        assert value(leader["args"], "--nnodes") == "$(LWS_GROUP_SIZE)"
        assert value(leader["args"], "--node-rank") == "$(LWS_WORKER_INDEX)"
        assert value(leader["args"], "--pp-size") == "2"

    @pytest.mark.parametrize("fields", [{"version": "v0.19.0"}, {"version": "nightly"}, {}])
    def test_new_vllm_joins_without_ray(self, fields: dict[str, str]) -> None:
        """The image has no Ray since v0.19 (kubernetes-sigs/lws#835, vllm-project/vllm#39400)."""
        runtimes = Edition.UPSTREAM if fields else Edition.CURRENT
        spec = group(self.PIPELINE, playground(**uses("vllm", **fields)), runtimes=runtimes)
        template = spec["leaderWorkerTemplate"]
        leader, worker = first(template["leaderTemplate"]), first(template["workerTemplate"])
        assert leader["command"] == worker["command"] == ["vllm", "serve"]
        assert leader["args"][0] == "/workspace/models/models--Qwen--Qwen2-0.5B"
        assert "--model" not in leader["args"]
        assert worker["args"] == [*leader["args"], "--headless"]
        for flag, expected in (
            ("--nnodes", "$(LWS_GROUP_SIZE)"),
            ("--node-rank", "$(LWS_WORKER_INDEX)"),
            ("--master-addr", "$(LWS_LEADER_ADDRESS)"),
            ("--pipeline-parallel-size", "2"),
            ("--port", "8080"),
        ):
            assert value(leader["args"], flag) == expected

    def test_vllm_before_still_needs_ray(self) -> None:
        spec = group(self.PIPELINE, playground(**uses("vllm", version="v0.18.1")))
        assert "ray start" in first(spec["leaderWorkerTemplate"]["leaderTemplate"])["args"][0]

    def test_sglang_without_pipelines_says_from_when_on(self) -> None:
        problem = the_error(self.PIPELINE, playground(**uses("sglang")))
        assert "0.4.7" in problem.reason
        assert "v0.4.5-cu121" in problem.reason

    @pytest.mark.parametrize("backend", ["vllm", "sglang"])
    def test_tensor_parallelism_over_nodes_spreads_the_accelerators(self, backend: str) -> None:
        spec = group(model(16, TP="16"), playground(**uses(backend)))
        template = spec["leaderWorkerTemplate"]
        assert template["size"] == 2
        for part in ("leaderTemplate", "workerTemplate"):
            resources = first(template[part])["resources"]
            assert str(resources["limits"]["nvidia.com/gpu"]) == "8"
            assert str(resources["requests"]["nvidia.com/gpu"]) == "8"

    def test_the_service_selects_leaders_on_the_port_of_the_engine(self) -> None:
        made = objects(self.PIPELINE, playground())
        (port,) = made["Service"]["spec"]["ports"]
        assert port["targetPort"] == 8080, "not Ray's --port"
        assert made["Service"]["spec"]["selector"]["leaderworkerset.sigs.k8s.io/worker-index"] == "0"

    def test_a_deployment_cannot_hold_it(self) -> None:
        problem = the_error(self.PIPELINE, playground(), workload=WorkloadChoice.DEPLOYMENT)
        assert "2 pods per replica" in problem.reason
        assert "auto" in problem.reason

    def test_demand_counts_every_pod(self) -> None:
        (item,) = fleet_of(self.PIPELINE, playground(replicas=3)).rendered
        assert [demand.pods for demand in item.pods] == [3, 3]
        assert {str(demand.requests["nvidia.com/gpu"]) for demand in item.pods} == {"8"}
        assert item.workloads[0].kind == "LeaderWorkerSet"
        assert "leaderworkerset" in item.needs

    def test_the_leader_serves_when_all_have_joined_however_long_it_takes(self, tmp_path: Path) -> None:
        leader = first(group(self.PIPELINE, playground())["leaderWorkerTemplate"]["leaderTemplate"])
        programs(tmp_path, python3='if [ "$1" = -c ]; then echo x >> seen; wc -l < seen; else echo "serves $*"; fi')
        done = started(leader, {"LWS_GROUP_SIZE": "500"}, tmp_path)
        assert done.returncode == 0
        assert re.search(r"^serves -m vllm\.entrypoints", done.stdout, re.MULTILINE)

    def test_a_leader_without_ray_ends(self, tmp_path: Path) -> None:
        leader = first(group(self.PIPELINE, playground())["leaderWorkerTemplate"]["leaderTemplate"])
        programs(tmp_path, ray="exit 3")
        assert started(leader, {"LWS_GROUP_SIZE": "2"}, tmp_path).returncode == 3


def programs(folder: Path, **scripts: str) -> None:
    """Put programs onto the path of what runs in a folder."""
    (folder / "bin").mkdir()
    for name in ("ray", "python3", "sleep"):
        file = folder / "bin" / name
        file.write_text(f"#!/bin/sh\n{scripts.get(name, 'exit 0')}\n")
        file.chmod(0o755)


def test_arguments_with_spaces_survive_the_leader_script() -> None:
    config = '{"a": "b c"}'
    spec = group(model(8, TP="8", PP="2"), playground(**uses("vllm", args=["--hf-overrides", config])))
    args = first(spec["leaderWorkerTemplate"]["leaderTemplate"])["args"]
    assert value(args, "--hf-overrides") == config


def test_a_hand_written_group_must_have_the_size_of_its_flavor() -> None:
    template = {"size": 3, "workerTemplate": {"spec": {"containers": [runner()]}}}
    problem = the_error(model(8, TP="8", PP="2"), service(workloadTemplate=template))
    assert problem.path == "spec.workloadTemplate.size"
    assert "3" in problem.reason
    assert "2" in problem.reason
