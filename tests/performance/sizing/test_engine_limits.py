"""No replica is sized for more requests at once than its engine works on: by what it is told, else by its defaults.

The cases are in ``data/engine_limits.yaml``, with the numbers of upstream's source. Each goes through ``workbench
size`` and through the plan, whose autoscaler has what follows as its upper bound.
"""

import math
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.contract.findings.ids import RuleId
from components.engines.command_line import command_line_of
from components.engines.memory.rows import Device
from components.engines.served.behavior import concurrency_limit
from components.fleet.instances import instance
from components.fleet.levels import LatencyTargets
from components.fleet.rendered import Fleet
from tests.commands.sizing.runs import rows
from tests.families.llmd.support import (
    LWS_API,
    MODEL,
    fleet,
    hpa_in,
    levels,
    per_minute,
    profile,
    variant,
    variant_in,
)
from tests.hostile.runs import run

CASES: dict[str, dict[str, Any]] = {
    row["case"]: row for row in yaml.safe_load((Path(__file__).parent / "data/engine_limits.yaml").read_text())
}
ACCELERATORS = {
    "g6": "L4",
    "g6e": "L40S",
    "p4d": "A100-40GB",
    "p4de": "A100-80GB",
    "p5": "H100",
    "p5en": "H200",
}
RATE, TOKENS, ALPHA, BETA = 60_000, 100, 10, 1
PROMISE = LatencyTargets(0, 0)
"""Nothing, so that the replicas are those of the capacity, which is what the batch decides."""
TOLD = {
    "vllm": ["--served-model-name", MODEL],
    "llama": ["--alias", MODEL, "--metrics"],
    "sglang": ["--served-model-name", MODEL, "--enable-metrics"],
}
"""What makes the pods of a case ones that an autoscaler can follow, by the first word of the case."""


def type_of(case: dict[str, Any]) -> str:
    return str(case.get("type", "g6.12xlarge"))


def container_of(case: dict[str, Any]) -> dict[str, Any]:
    gpus, is_script = str(case.get("gpus", 1)), case.get("command", [""])[0] == "sh"
    told = [] if is_script else TOLD.get(case["case"].replace(".", " ").partition(" ")[0], [])
    env = [{"name": name, "value": value} for name, value in case.get("env", {}).items()]
    env += [
        {"name": name, "valueFrom": {"configMapKeyRef": {"name": "c", "key": "k"}}} for name in case.get("from", ())
    ]
    return {
        "name": "engine",
        "image": case["image"],
        **({"command": case["command"]} if "command" in case else {}),
        "args": [*case.get("args", ()), *told],
        "env": env,
        "ports": [{"name": "http", "containerPort": 8000}],
        "resources": {"requests": {"cpu": "2", "memory": "8Gi"}, "limits": {"nvidia.com/gpu": gpus}},
    }


def documents_of(case: dict[str, Any]) -> list[dict[str, Any]]:
    """A LeaderWorkerSet of one pod, and a variant that scales it."""
    nodes = {"node.kubernetes.io/instance-type": type_of(case)}
    template = {"spec": {"containers": [container_of(case)], "nodeSelector": nodes}}
    workload = {
        "apiVersion": LWS_API,
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "chat", "namespace": "ns"},
        "spec": {"leaderWorkerTemplate": {"size": 1, "workerTemplate": template}},
    }
    name = ACCELERATORS[type_of(case).partition(".")[0]]
    speed = profile(name, case.get("gpus", 1), str(ALPHA), str(BETA), case.get("batch", 1000))
    return [workload, variant("chat", speed, accelerator=name)]


def carried(case: dict[str, Any]) -> int:
    """The batch that a replica is sized with."""
    given: int = case.get("batch", 1000)
    return given if case["most"] is None else min(given, case["most"])


def replicas_of(batch: int) -> int:
    """Each takes a thousandth less than N / (tokens * (alpha + beta * N)) requests a millisecond (WVA spec 8.3)."""
    capacity = batch / (TOKENS * (ALPHA + BETA * batch)) * 60_000 * 0.999
    return math.ceil(RATE / capacity)


def test_there_are_forty() -> None:
    assert len(CASES) >= 40


@pytest.mark.parametrize("name", CASES)
def test_what_an_engine_takes(name: str) -> None:
    case = CASES[name]
    node, container = instance(type_of(case)), container_of(case)
    assert node is not None
    assert node.accelerator_memory_gib is not None
    device = Device(node.accelerator, int(node.accelerator_memory_gib * 2**30))
    found = concurrency_limit(container, command_line_of(container), device)
    assert (None if found.limit is None else min(found.limit, case.get("batch", 1000))) == case["most"]
    assert found.reason


@pytest.mark.parametrize("name", CASES)
def test_what_size_answers(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    file = tmp_path / "models.yaml"
    file.write_text(yaml.safe_dump_all(documents_of(case)))
    asked = ("--variant", "chat", "--rate", str(RATE), "--output-tokens", str(TOKENS), "--namespace", "ns")
    (row,) = rows(str(file), *asked, "--slo-itl", "0", "--slo-ttft", "0").values()
    assert (row["batch"], row["replicas"]) == (carried(case), replicas_of(carried(case)))
    assert (row["batchLimit"] is None) == (case["most"] is None)
    assert row["batchLimitSource"]


def plan_of(case: dict[str, Any]) -> Fleet:
    usual = levels(per_minute(RATE, output=TOKENS), PROMISE)
    return fleet(*documents_of(case), levels=usual)


NATIVE = [name for name in CASES if not name.startswith(("ollama", "trtllm", "unknown"))]
"""Those that export a queue, which an autoscaler can follow."""


@pytest.mark.parametrize("name", NATIVE)
def test_what_bounds_the_autoscaler(name: str) -> None:
    case = CASES[name]
    found = plan_of(case)
    (scaler,) = variant_in(found).autoscalers
    assert scaler.sized is not None
    assert scaler.sized.batch == carried(case)
    assert hpa_in(found)["spec"]["maxReplicas"] == replicas_of(carried(case))


@pytest.mark.parametrize("name", NATIVE)
def test_the_plan_says_where_the_batch_is_another(name: str) -> None:
    case = CASES[name]
    told = [each for each in plan_of(case).problems if each.rule == RuleId.SIZING_MISMATCH]
    told = [each for each in told if each.path.endswith("maxBatchSize")]
    given = case.get("batch", 1000)
    if case["most"] is None:
        (note,) = told
        assert (note.severity, "is not checked" in note.reason) == ("note", True)
    elif case["most"] < given:
        (warning,) = told
        assert (warning.severity, f"the plan computes with {case['most']};" in warning.reason) == ("warning", True)
    elif name == "vllm more than the profile":
        assert [each.severity for each in told] == ["warning"]
    else:
        assert told == []


class TestModelOfAStack:
    """``--model`` with ``--stack``: the pod that serves it has an argument (stacks/variants/mistral-7b.yaml)."""

    ASKED = ("--model", "mistral-7b-instruct", "--rate", "150", "--input-tokens", "20", "--output-tokens", "60")
    HERE = (*ASKED, "--accelerator", "L4", "--stack", "local", "--cwd", str(Path(__file__).parents[3]))

    def test_it_is_sized_for_what_the_pod_carries(self) -> None:
        """19 at once: 19 / (60 * (82.13 + 2.73 * 19)) a ms are 141.8 a minute, so that 150 need two replicas."""
        row = rows(*self.HERE)["L4"]
        assert (row["batch"], row["batchLimit"], row["batchLimitSource"]) == (19, 19, "--max-num-seqs 19")
        assert row["lambdaMaxPerMinute"] == pytest.approx(0.999 * 19 / (60 * (82.13 + 2.73 * 19)) * 60_000)
        assert row["lambdaMaxPerMinute"] < 150
        assert row["replicas"] == 2

    def test_it_is_told(self) -> None:
        told = run("size", *self.HERE).stderr
        assert (
            "note: Deployment/mistral-7b limits concurrent requests below the batch of the profile "
            "(--max-num-seqs 19): L4 121 -> 19\n"
        ) in told

    def test_upstream_does_not_cap_the_batch(self) -> None:
        done = run("size", *self.HERE, "--literal", "--output", "json")
        assert '"batch": 121' in done.stdout
        assert (
            "upstream does not cap the batch of L4, 121; Deployment/mistral-7b limits concurrent requests to 19"
            in done.stderr
        )

    def test_the_price_is_that_of_its_nodes(self) -> None:
        """One L4 of g6.2xlarge at $0.9776 an hour."""
        assert rows(*self.HERE)["L4"]["centsPerAcceleratorHour"] == pytest.approx(97.76)

    def test_without_a_stack_defaults_cap(self) -> None:
        """19 * 512 / 30 = 324 for 30 tokens, and vLLM takes 256 on an L4; 121 for 80 tokens are below that."""
        asked = ("--model", "mistral-7b-instruct", "--rate", "150", "--accelerator", "L4", "--stack", "none")
        targets = ("--slo-itl", "0", "--slo-ttft", "2000")
        row = rows(*asked, *targets, "--input-tokens", "10", "--output-tokens", "20")["L4"]
        assert (row["publishedBatch"], row["batch"], row["batchLimit"]) == (19, 256, 256)
        row = rows(*asked, *targets, "--input-tokens", "20", "--output-tokens", "60")["L4"]
        assert (row["batch"], row["batchLimit"]) == (121, 256)

    def test_a_profile_of_no_stack_is_believed(self) -> None:
        row = rows("--profile", "L4=1x10/1@5000", "--rate", "10", "--output-tokens", "9", "--slo-itl", "0")["L4"]
        assert (row["batch"], row["batchLimit"], row["batchLimitSource"]) == (5000, None, None)


def test_one_slot_keeps_a_promise_of_tokens() -> None:
    """llama.cpp with one slot: tokens take 20.99 ms under any load, 24 are promised: only the queue bounds it."""
    documents = documents_of(CASES["llama.cpp with one slot"])
    documents[1]["spec"]["modelProfile"]["accelerators"] = [profile()]
    found = fleet(*documents, levels=levels(per_minute(40)))
    (scaler,) = variant_in(found).autoscalers
    assert scaler.sized is not None
    assert (scaler.sized.batch, scaler.sized.limit) == (1, "ttft")
    assert scaler.maximum > 1
