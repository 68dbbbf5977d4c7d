"""The arguments of engines on several nodes, and the group that runs them."""

from typing import Any

import pytest

from components.families import objects
from components.fleet.options import Options
from components.fleet.words import OtherKinds, Realization
from components.plan.environment import Environment
from components.plan.plan import plan
from tests.families.kthena.serving.support import engine, model_serving, pods, role

Object = dict[str, Any]
VLLM, SGLANG, TENSORRT = (
    "vllm/vllm-openai:v0.20.0",
    "lmsysorg/sglang:v0.5.9",
    "nvcr.io/nvidia/tensorrt-llm:1.0.0",
)
SERVE = ["vllm", "serve", "Qwen/Qwen2.5-72B-Instruct"]
SGLANG_SERVE = ["python3", "-m", "sglang.launch_server", "--model-path", "Qwen/Qwen2.5-72B-Instruct"]
MODULE = ["python3", "-m", "vllm.entrypoints.openai.api_server", "--model", "Qwen/Qwen2.5-72B-Instruct"]
DEGREES = ["--tensor-parallel-size", "4", "--pipeline-parallel-size", "2"]
INDEX = "$(LWS_WORKER_INDEX)"


def container(*args: str, command: list[str] | None = None, image: str = VLLM, gpus: int = 4) -> Object:
    limits = {"limits": {"nvidia.com/gpu": gpus}} if gpus else {}
    name = {"name": "engine", "image": image, "command": command or SERVE, "args": list(args)}
    return {**name, "resources": limits, "ports": [{"containerPort": 8000}]}


def group(leader: Object, worker: Object | None, size: int = 2) -> Object:
    template: Object = {"size": size, "workerTemplate": {"spec": {"containers": [worker or leader]}}}
    if worker is not None:
        template["leaderTemplate"] = {"spec": {"containers": [leader]}}
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "g"},
        "spec": {"replicas": 1, "leaderWorkerTemplate": template},
    }


def found(document: Object, rule: str = "groups-mismatch", **options: Any) -> list[tuple[str, str]]:
    planned = plan(objects([document]), Environment(options=Options(**options)))
    return [(each.path.removeprefix("spec."), each.reason) for each in planned.problems if each.rule == rule]


def nodes(count: int | str, rank: int | str, *more: str) -> list[str]:
    address = "$(LWS_LEADER_ADDRESS)"
    return [*DEGREES, "--nnodes", str(count), "--node-rank", str(rank), "--master-addr", address, *more]


RIGHT = [
    (container(*nodes(2, 0)), container(*nodes(2, INDEX, "--headless")), 2),
    (container(*nodes(2, INDEX)), container(*nodes(2, 1, "--headless")), 2),
    (container(*nodes("$(LWS_GROUP_SIZE)", 0)), container(*nodes("$(LWS_GROUP_SIZE)", INDEX, "--headless")), 2),
    (container(*DEGREES), container(*DEGREES), 2),  # joined by other means
    (container("--tensor-parallel-size", "4"), None, 1),
]


@pytest.mark.parametrize(("leader", "worker", "size"), RIGHT)
def test_a_group_that_its_arguments_describe(leader: Object, worker: Object | None, size: int) -> None:
    document = group(leader, worker, size)
    assert found(document) == found(document, "gpus-mismatch") == []


WORKER = container(*nodes(2, INDEX, "--headless"))
WRONG = [
    (container(*nodes(3, 0)), WORKER, 2, "leaderTemplate", "--nnodes is 3, but a replica has 2 pods"),
    (container(*nodes(2, 0)), None, 1, "workerTemplate", "--nnodes is 2, but a replica has 1 pod,"),
    (container(*nodes(2, 1)), WORKER, 2, "leaderTemplate", "--node-rank is 1 in the leader"),
    (container(*nodes(2, 0, "--headless")), WORKER, 2, "leaderTemplate", "starts no API server"),
    (container(*nodes(2, 0)), container(*nodes(2, 0, "--headless")), 2, "workerTemplate", "--node-rank is 0"),
    (
        container(*nodes(3, 0)),
        container(*nodes(3, 1, "--headless")),
        3,
        "workerTemplate",
        "--node-rank is 1 in every",
    ),
    (container(*nodes(2, 0)), container(*nodes(2, INDEX)), 2, "workerTemplate", "--headless is missing"),
    (
        container(*nodes(2, 0), command=MODULE),
        container(*nodes(2, INDEX, "--headless"), command=MODULE),
        2,
        "workerTemplate",
        "is ignored by vllm.entrypoints.openai.api_server",
    ),
    (container(*nodes(2, INDEX)), None, 2, "workerTemplate", "in a template of their own"),
]


@pytest.mark.parametrize(("leader", "worker", "size", "place", "text"), WRONG)
def test_a_group_that_its_arguments_do_not_describe(
    leader: Object, worker: Object | None, size: int, place: str, text: str
) -> None:
    problems = found(group(leader, worker, size))
    assert [place in path for path, reason in problems if text in reason] == [True]


def test_followers_of_sglang_need_ranks_and_no_switch() -> None:
    def server(count: int, rank: str) -> Object:
        args = ["--tp", "4", "--pp-size", "2", "--nnodes", str(count), "--node-rank", rank]
        args += ["--dist-init-addr", "$(LWS_LEADER_ADDRESS):20000"]
        return container(*args, command=SGLANG_SERVE, image=SGLANG)

    assert found(group(server(2, INDEX), None)) == []
    ((_, ranks),) = found(group(server(2, "0"), None))
    assert "--node-rank is 0 in every pod" in ranks
    assert "--nnodes is 3" in found(group(server(3, INDEX), None))[0][1]


@pytest.mark.parametrize(
    ("server", "expected"),
    [
        (container("--tensor-parallel-size", "8"), "needs 8 accelerators (--tensor-parallel-size 8)"),
        (container("--tensor-parallel-size", "4"), ""),
        (container("--tensor-parallel-size", "2"), ""),
        (container("--tensor-parallel-size", "8", gpus=0), ""),
        (container(*DEGREES), "--pipeline-parallel-size 2"),
        (container("--tp", "8", command=SGLANG_SERVE, image=SGLANG), "needs 8 accelerators"),
        (container("--tp", "4", "--dp", "4", "--enable-dp-attention", command=SGLANG_SERVE, image=SGLANG), ""),
        (container("m", "--tp_size", "8", command=["trtllm-serve"], image=TENSORRT), "needs 8 accelerators"),
        (container("m", "--tp_size", "4", command=["trtllm-serve"], image=TENSORRT), ""),
    ],
)
def test_the_world_of_an_engine_is_at_most_the_accelerators(server: Object, expected: str) -> None:
    problems = found(group(server, None, 1), "gpus-mismatch")
    assert [expected in reason for _, reason in problems] == [True] * bool(expected)


def test_each_node_has_its_share_of_the_world() -> None:
    uneven = ["--tensor-parallel-size", "3", "--pipeline-parallel-size", "1", "--nnodes", "2", "--node-rank"]
    document = group(container(*uneven, "0"), container(*uneven, "1", "--headless"))
    ((_, reason),) = found(document, "gpus-mismatch")
    assert "on 2 nodes" in reason


@pytest.mark.parametrize(
    ("realization", "expected"),
    [(Realization.NATIVE, []), (Realization.OPERATOR, ["Kthena's controller sets $(ENTRY_ADDRESS)"])],
)
def test_variables_of_another_controller_stay_as_they_are(realization: Realization, expected: list[str]) -> None:
    address = engine("--x", "$(LWS_LEADER_ADDRESS)", image="example.com/own:1")
    document = model_serving("ms", role("a", 1, workerTemplate=pods(address)))
    reasons = [reason for _, reason in found(document, "reference-elsewhere", realization=realization)]
    assert [text in reason for reason, text in zip(reasons, expected, strict=True)] == [True] * len(expected)


def script(text: str, **more: Any) -> Object:
    return {**container(command=["sh", "-c", text], **more)}


def joined(*more: str, rank: str = INDEX) -> Object:
    """Return a server of vLLM without the address of the leader."""
    return container(*DEGREES, "--nnodes", "2", "--node-rank", rank, *more)


AT_LEADER = ("--master-addr", "$(LWS_LEADER_ADDRESS)")
LEADER = joined(*AT_LEADER, rank="0")
JOIN = [
    (LEADER, joined("--headless"), "--master-addr is missing"),
    (LEADER, joined("--headless", "--master-addr", "127.0.0.1"), "--master-addr is 127.0.0.1"),
    (
        joined(*AT_LEADER, "--master-port", "29500", rank="0"),
        joined(*AT_LEADER, "--master-port", "1", "--headless"),
        "1, but 29500",
    ),
    (
        LEADER,
        container("--tensor-parallel-size", "8", *nodes(2, INDEX, "--headless")[2:]),
        "--tensor-parallel-size is 8, but 4",
    ),
    (LEADER, container(*DEGREES, "--node-rank", INDEX, *AT_LEADER, "--headless"), "--nnodes is missing here"),
    (LEADER, joined("--headless", "--master-addr", "$(ENTRY_ADDRESS)"), "nothing sets ENTRY_ADDRESS"),
    (LEADER, joined(*AT_LEADER, "--headless", rank="$(WORKER_INDEX)"), "use LWS_WORKER_INDEX"),
    (
        LEADER,
        script(
            "vllm serve m --tensor-parallel-size 4 --pipeline-parallel-size 2 --nnodes 2 --headless --node-rank "
            "$LWS_WORKER_INDEX --master-addr ${ENTRY_ADDRESS}"
        ),
        "use LWS_LEADER_ADDRESS",
    ),
]


@pytest.mark.parametrize(("leader", "worker", "text"), JOIN)
def test_pods_that_do_not_find_each_other(leader: Object, worker: Object, text: str) -> None:
    ((path, reason),) = found(group(leader, worker))
    assert "workerTemplate" in path
    assert text in reason


@pytest.mark.parametrize(
    "worker",
    [
        joined(*AT_LEADER, "--headless"),
        {**joined("--headless", "--master-addr", "$(LEADER)"), "env": [{"name": "LEADER", "value": "a"}]},
        {**joined("--headless", "--master-addr", "$(LEADER)"), "envFrom": [{"configMapRef": {"name": "x"}}]},
        script(
            "vllm serve m --tensor-parallel-size 4 --pipeline-parallel-size 2 --nnodes 2 --headless --node-rank "
            "$RANK --master-addr $LEADER"
        ),
        script(
            "export ENTRY_ADDRESS=$(hostname); vllm serve m --tensor-parallel-size 4 --pipeline-parallel-size 2 "
            "--nnodes $LWS_GROUP_SIZE --headless --node-rank $LWS_WORKER_INDEX --master-addr $ENTRY_ADDRESS"
        ),
    ],
)
def test_pods_that_may_find_each_other(worker: Object) -> None:
    assert found(group(LEADER, worker)) == []


@pytest.mark.parametrize(
    ("address", "text"),
    [
        (["--dist-init-addr", "$(LWS_LEADER_ADDRESS):20000"], ""),
        (["--dist-init-addr", "$(LEADER):20000"], "nothing sets LEADER"),
        (["--dist-init-addr", "localhost:20000"], "--dist-init-addr is localhost"),
        ([], "--dist-init-addr is missing"),
    ],
)
def test_the_address_of_sglang(address: list[str], text: str) -> None:
    args = ["--tp", "8", "--nnodes", "2", "--node-rank", INDEX, *address]
    problems = found(group(container(*args, command=SGLANG_SERVE, image=SGLANG), None))
    assert [text in reason for _, reason in problems] == [True] * bool(text)


def test_ports_of_sglang_differ() -> None:
    leader, worker = (
        container(
            *(
                "--tp",
                "8",
                "--nnodes",
                "2",
                "--node-rank",
                INDEX,
                "--dist-init-addr",
                f"$(LWS_LEADER_ADDRESS):{port}",
            ),
            command=SGLANG_SERVE,
            image=SGLANG,
        )
        for port in (20000, 20001)
    )
    ((_, reason),) = found(group(leader, worker))
    assert "is 20001, but 20000 in the leader" in reason


@pytest.mark.parametrize(("count", "wrong"), [(16, True), (8, False), (4, False)])
def test_processes_of_mpi(count: int, *, wrong: bool) -> None:
    text = f"mpirun --allow-run-as-root -n {count} trtllm-llmapi-launch trtllm-serve m --tp_size 8"
    problems = found(group(script(text, image=TENSORRT), script("sleep inf", image=TENSORRT)), "gpus-mismatch")
    assert [f"starts {count} processes" in reason for _, reason in problems] == [True] * wrong


@pytest.mark.parametrize(("count", "wrong"), [(2, True), (1, False)])
def test_a_plain_deployment_that_is_created_unchanged(count: int, *, wrong: bool) -> None:
    pod = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [container("--nnodes", str(count))]}}
    document = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "d"},
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": pod},
    }
    planned = plan(objects([document]), Environment(other_kinds=OtherKinds.APPLY))
    reasons = [each.reason for each in planned.problems if each.rule == "groups-mismatch"]
    assert ["--nnodes is 2, but a replica has 1 pod," in reason for reason in reasons] == [True] * wrong


@pytest.mark.parametrize("text", ["$LWS_LEADER_ADDRESS", "$(LWS_LEADER_ADDRESS)"])
@pytest.mark.parametrize(("realization", "wrong"), [(Realization.NATIVE, False), (Realization.OPERATOR, True)])
def test_variables_of_another_controller_join_nothing(text: str, realization: Realization, *, wrong: bool) -> None:
    def server(rank: str, *more: str) -> Object:
        flags = [*DEGREES, "--nnodes", "2", "--node-rank", rank, "--master-addr", text, *more]
        line = " ".join([*SERVE, *flags])
        of_shell = {"command": ["sh", "-c", line]} if "(" not in text else {"command": SERVE, "args": flags}
        return engine(image=VLLM, resources={"limits": {"nvidia.com/gpu": 4}}, **of_shell)

    parts = {"entryTemplate": pods(server("0")), "workerTemplate": pods(server("1", "--headless"))}
    reasons = [r for _, r in found(model_serving("ms", role("a", 1, **parts)), realization=realization)]
    assert len(reasons) == 2 * wrong
    assert all("nothing sets LWS_LEADER_ADDRESS" in r and "use ENTRY_ADDRESS" in r for r in reasons)


def test_messages_name_the_flags_in_scripts() -> None:
    flags = "--nnodes 4 --node-rank $LWS_WORKER_INDEX --master-addr $LWS_LEADER_ADDRESS"
    text = f"export A=1\nexec {' '.join(SERVE)} {flags}"
    assert any(reason.startswith("--nnodes is 4,") for _, reason in found(group(script(text), None)))
