"""From manifests to what is asked about memory: every family, natively and through its operator."""

from decimal import Decimal

import pytest

from components.checks.memory.cases import Fit, MemoryCase, Parallel
from components.checks.memory.verdicts import fit_in_words
from components.checks.memory.workloads.known import OwnShape
from components.fleet.words import Realization
from tests.checks.memory.fleets import (
    GIB,
    QWEN,
    REALIZATIONS,
    SMALL,
    Object,
    booster,
    case,
    inference_service,
    judged,
    leader_worker_set,
    llmaz_service,
    llmkube_model,
    model_serving,
    only,
    open_model,
    playground,
    pod,
    worker,
)


@pytest.mark.parametrize("realization", REALIZATIONS)
class TestFamilies:
    """One model, told in the words of each family, is the same question."""

    def test_playground(self, realization: Realization) -> None:
        found = case(open_model(), playground("--max-model-len", "8192"), realization=realization)
        self._is_qwen(found)

    def test_service_of_llmaz(self, realization: Realization) -> None:
        # The loader puts a repository into this folder (llmaz spec 2.2).
        args = ("--model", "/workspace/models/models--Qwen--Qwen3-8B", "--max-model-len", "8192")
        self._is_qwen(case(open_model(), llmaz_service(*args), realization=realization))

    def test_inference_service(self, realization: Realization) -> None:
        service = inference_service(vllmConfig={"maxModelLen": 8192})
        self._is_qwen(case(llmkube_model(), service, realization=realization))

    def test_model_serving(self, realization: Realization) -> None:
        command = ["vllm", "serve", QWEN, "--max-model-len", "8192"]
        found = case(model_serving(("engine", pod("g6e.2xlarge", command))), realization=realization)
        self._is_qwen(found)

    def test_leader_worker_set(self, realization: Realization) -> None:
        command = ["vllm", "serve", QWEN, "--max-model-len", "8192"]
        self._is_qwen(case(leader_worker_set(pod("g6e.2xlarge", command)), realization=realization))

    @staticmethod
    def _is_qwen(found: MemoryCase) -> None:
        is_qwen(found)


def is_qwen(found: MemoryCase) -> None:
    assert (found.shape.name, found.context, found.parallel) == (QWEN, 8192, Parallel())
    # EC2 reports 44.70 GiB of an L40S, rounded (aws-gpu spec 1).
    assert (found.device, round(Decimal(found.device_bytes) / GIB, 2)) == ("L40S", Decimal("44.70"))


def test_model_booster() -> None:
    is_qwen(case(booster(worker("g6e.2xlarge", config={"max-model-len": 8192}))))


def test_the_operator_of_kthena_chooses_no_nodes() -> None:
    """It ignores the affinity of a worker (Kthena spec, D-21), which is the only word for a kind of nodes."""
    open_worker = {**worker(config={"served-model-name": "b"}), "affinity": None}
    document = booster(open_worker, cacheURI="hostpath:///cache")
    found = only(document, realization=Realization.OPERATOR)
    assert found.text == "not checked: the instance type of the nodes is unknown"


def test_a_group_of_pods_is_one_replica() -> None:
    config = {"tensor-parallel-size": 4, "pipeline-parallel-size": 2}
    found = only(booster(worker("g6e.12xlarge", gpus=4, pods=2, config=config)))
    assert found.accelerators == 8
    assert found.verdict.asked
    assert found.verdict.asked.parallel == Parallel(4, 2)


def test_prefill_and_decode_are_judged_each_on_its_nodes() -> None:
    prefill = worker("g6.2xlarge", type="prefill", config={"max-model-len": 4096})
    decode = worker("g6e.2xlarge", type="decode", config={"max-model-len": 8192})
    found = {each.workload.role: each for each in judged(booster(prefill, decode, kind="vLLMDisaggregated"))}
    assert {role: each.instance_type for role, each in found.items()} == {
        "prefill": "g6.2xlarge",
        "decode": "g6e.2xlarge",
    }
    contexts = {role: each.verdict.asked.context for role, each in found.items() if each.verdict.asked}
    assert contexts == {"prefill": 4096, "decode": 8192}
    assert fit_in_words(list(found.values())).startswith("prefill: ")


def test_equal_instances_of_a_role_are_judged_once() -> None:
    document = model_serving(("a", pod("g6e.2xlarge", ["vllm", "serve", QWEN])), ("b", pod("g6e.2xlarge", ["x"])))
    document["spec"]["replicas"] = 3
    found = judged(document)
    assert [each.workload.role for each in found] == ["a", "b"]
    assert found[0].names == tuple(f"LeaderWorkerSet default/k-{group}-a-0" for group in range(3))


def test_the_type_that_it_fits_worst_counts() -> None:
    found = only(open_model(types=("g6e.2xlarge", "g6.2xlarge", "p5.4xlarge")), playground())
    assert found.instance_type == "g6.2xlarge"
    assert " on g6.2xlarge" in found.text


def test_what_the_environment_takes_instead_counts_too() -> None:
    found = only(open_model(), playground(), alternatives={"g6e.2xlarge": ("g6.2xlarge",)})
    assert found.instance_type == "g6.2xlarge"


def test_a_kind_of_nodes_without_a_type_is_noted() -> None:
    found = only(open_model(types=("g6e.2xlarge", "")), playground("--max-model-len", "4096"))
    assert found.verdict.fit is Fit.FITS
    assert "nodes whose type is unknown" in " ".join(found.verdict.notes)
    closed = only(open_model(), playground("--max-model-len", "4096"))
    assert "nodes whose type is unknown" not in " ".join(closed.verdict.notes)


NOT_CHECKED = [
    ((open_model(types=("",)), playground()), "the instance type of the nodes is unknown"),
    ((open_model(types=("x9.large",)), playground()), "unknown instance type x9.large"),
    ((open_model(types=("m7i.2xlarge",)), playground()), "m7i.2xlarge has no accelerators"),
    ((open_model(gpus=0), playground()), "the pods request no accelerator"),
    ((open_model("example/own"), playground()), "unknown model example/own"),
    ((open_model(), playground("--tensor-parallel-size", "2")), "set to use 2 accelerators, but a replica has 1"),
    ((open_model(), playground(backend="ollama")), "no figures on the memory use of ollama"),
    (
        (leader_worker_set(pod("g6e.2xlarge", ["/bin/sh", "-c", "./serve"])),),
        "its server is started by a script",
    ),
    ((leader_worker_set(pod("", ["vllm", "serve", QWEN])),), "the instance type of the nodes is unknown"),
    ((leader_worker_set(pod("g6e.2xlarge", ["vllm", "serve", QWEN, "-q", "awq"])),), "are bfloat16"),
    (
        (
            llmkube_model("https://huggingface.co/a/b-GGUF/resolve/main/b.Q4_K_M.gguf"),
            inference_service(runtime="llamacpp", endpoint={}),
        ),
        "the size of the file b.Q4_K_M.gguf is unknown",
    ),
]


@pytest.mark.parametrize(("documents", "reason"), NOT_CHECKED, ids=[reason for _, reason in NOT_CHECKED])
def test_what_is_not_known_is_not_checked(documents: tuple[Object, ...], reason: str) -> None:
    found = only(*documents)
    assert found.verdict.fit is Fit.UNKNOWN
    assert reason in found.text
    assert found.text.startswith("not checked: ")


def test_neuron_devices_are_not_checked() -> None:
    template = pod("inf2.xlarge", ["vllm", "serve", QWEN])
    template["spec"]["containers"][0]["resources"] = {"limits": {"aws.amazon.com/neuron": "1"}}
    assert "aws.amazon.com/neuron" in only(leader_worker_set(template)).text


def test_a_model_of_ones_own_goes_before_the_catalog() -> None:
    assert case(open_model(), playground(), own={QWEN: OwnShape(SMALL)}).shape == SMALL
    assert case(open_model(), playground(), own={"other": OwnShape(SMALL)}).shape.name == QWEN


def test_a_bucket_is_known_by_its_address() -> None:
    uri = "oss://models.oss-cn-hangzhou.aliyuncs.com/llm/small"
    documents = (open_model({"uri": uri}), playground())
    assert case(*documents, own={uri: OwnShape(SMALL)}).shape == SMALL
    assert only(*documents).verdict.fit is Fit.UNKNOWN


def test_a_file_of_a_repository_is_not_the_repository() -> None:
    source = {"modelHub": {"modelID": QWEN, "filename": "qwen.gguf"}}
    assert "the size of the file qwen.gguf" in only(open_model(source), playground()).text


def test_the_verdict_of_one_model_never_depends_on_another() -> None:
    documents = [
        open_model(),
        playground("--max-model-len", "8192"),
        playground(name="q"),
        llmaz_service("--model", "x"),
    ]
    alone = {
        name: only(open_model(), each)
        for name, each in (("p", documents[1]), ("q", documents[2]), ("s", documents[3]))
    }
    for others in ([1, 2, 3], [3, 2, 1], [2, 1], [3, 1]):
        found = judged(documents[0], *(documents[place] for place in others))
        assert {each.item.name: each.text for each in found} == {
            each.item.name: alone[each.item.name].text for each in found
        }
        assert {each.item.name: each.verdict for each in found} == {
            each.item.name: alone[each.item.name].verdict for each in found
        }
