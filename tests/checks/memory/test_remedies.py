"""What a message tells somebody to do: 40 manifests, each with the first thing that it must say.

The expected steps follow from the weights of the catalog, the number of accelerators and the fields of each family's
API, by hand: a 70B model in 16 bits has 131.4 GiB, and of four L40S each may use 40.0 GiB, so that a quarter fits
there. What is told is then done, and the manifest checked again.
"""

import re
from dataclasses import dataclass
from typing import Any

import pytest

from components.checks.memory.cases import Fit
from components.checks.memory.verdicts import check_memory
from tests.checks.memory.fleets import (
    Object,
    booster,
    inference_service,
    judged,
    leader_worker_set,
    llmkube_model,
    model_serving,
    pod,
    worker,
)

V3 = "deepseek-ai/DeepSeek-V3"
LLAMA_70B = "meta-llama/Llama-3.3-70B-Instruct"
QWEN_8B = "Qwen/Qwen3-8B"
QWEN_32B = "Qwen/Qwen3-32B"
QWEN_72B = "Qwen/Qwen2.5-72B-Instruct"
QWEN_235B = "Qwen/Qwen3-235B-A22B"
MIXTRAL = "mistralai/Mixtral-8x7B-v0.1"
PHI_4 = "microsoft/phi-4"
R1_14B = "deepseek-ai/DeepSeek-R1-Distill-Qwen-14B"
GPT_120B = "openai/gpt-oss-120b"
SHORT = ("--max-model-len", "4096", "--max-num-seqs", "64")


@dataclass(frozen=True)
class Case:
    """A manifest, and what the message about it must say first.

    Attributes:
        first: The first step; empty where the model fits, or a step must not be said.
        never: What no step may say.
        fixed: The manifest once the step is done; empty where that is another kind of nodes.
    """

    name: str
    documents: tuple[Object, ...]
    first: str
    fixed: tuple[Object, ...] = ()
    never: str = ""


def llmaz(
    model: str, node: str, gpus: int, *args: str, tp: str = "", backend: str = "vllm", pp: str = ""
) -> tuple[Object, ...]:
    params = {"INSTANCE-TYPE": node, **({"TP": tp} if tp else {}), **({"PP": pp} if pp else {})}
    flavor = {"name": "only", "limits": {"nvidia.com/gpu": gpus}, "params": params}
    spec: Object = {
        "familyName": "f",
        "source": {"modelHub": {"modelID": model}},
        "inferenceConfig": {"flavors": [flavor]},
    }
    config: Object = {"backendName": backend, "args": list(args or SHORT)}
    config["version"] = "v0.5.9" if backend == "sglang" else "v0.20.0"
    return (
        {"apiVersion": "llmaz.io/v1alpha1", "kind": "OpenModel", "metadata": {"name": "m"}, "spec": spec},
        {
            "apiVersion": "inference.llmaz.io/v1alpha1",
            "kind": "Playground",
            "metadata": {"name": "p"},
            "spec": {"modelClaim": {"modelName": "m"}, "backendRuntimeConfig": config},
        },
    )


def service(model: str, node: str, gpus: int, *args: str) -> tuple[Object, ...]:
    opened = llmaz(model, node, gpus)[0]
    folder = f"/workspace/models/models--{model.replace('/', '--')}"
    container = {
        "name": "model-runner",
        "image": "vllm/vllm-openai:v0.20.0",
        "args": ["--model", folder, *SHORT, *args],
        "resources": {"limits": {"nvidia.com/gpu": gpus}},
    }
    spec = {
        "modelClaims": {"models": [{"name": "m"}]},
        "workloadTemplate": {"workerTemplate": {"spec": {"containers": [container]}}},
    }
    return (
        opened,
        {"apiVersion": "inference.llmaz.io/v1alpha1", "kind": "Service", "metadata": {"name": "s"}, "spec": spec},
    )


def llmkube(model: str, node: str, gpus: int, *extra: str, **config: Any) -> tuple[Object, ...]:
    given = inference_service(
        node, vllmConfig={"maxModelLen": 4096, **config}, extraArgs=["--max-num-seqs", "64", *extra]
    )
    given["spec"]["image"] = "vllm/vllm-openai:v0.20.0"
    return llmkube_model(model, gpus), given


def kthena(model: str, node: str, gpus: int, pods: int = 1, **config: Any) -> tuple[Object, ...]:
    settings = {key.replace("_", "-"): value for key, value in config.items()}
    config_of = {"max-model-len": 4096, "max-num-seqs": 64, **settings}
    return (booster(worker(node, gpus=gpus, pods=pods, config=config_of), uri=f"hf://{model}"),)


def serving(model: str, node: str, gpus: int, *args: str) -> tuple[Object, ...]:
    return (model_serving(("a", pod(node, ["vllm", "serve", model, *SHORT, *args], gpus))),)


def lws(model: str, node: str, gpus: int, *args: str, size: int = 1) -> tuple[Object, ...]:
    return (leader_worker_set(pod(node, ["vllm", "serve", model, *SHORT, *args], gpus), size),)


def sglang(model: str, node: str, gpus: int, *args: str) -> tuple[Object, ...]:
    command = ["python3", "-m", "sglang.launch_server", "--model-path", model, "--context-length", "4096", *args]
    template = pod(node, command, gpus)
    template["spec"]["containers"][0]["image"] = "lmsysorg/sglang:v0.5.9"
    return (leader_worker_set(template),)


CASES = [
    # The degree of llmaz is a param of the flavor, and must be all accelerators of a pod.
    Case(
        "llmaz-v3-p5en",
        llmaz(V3, "p5en.48xlarge", 8),
        "add params: {TP: '8'}",
        llmaz(V3, "p5en.48xlarge", 8, tp="8"),
        "p5en",
    ),
    Case(
        "llmaz-70b-4xl40s",
        llmaz(LLAMA_70B, "g6e.12xlarge", 4),
        "add params: {TP: '4'}",
        llmaz(LLAMA_70B, "g6e.12xlarge", 4, tp="4"),
    ),
    Case(
        "llmaz-70b-2xa100",
        llmaz(LLAMA_70B, "p4de.24xlarge", 2),
        "add params: {TP: '2'}",
        llmaz(LLAMA_70B, "p4de.24xlarge", 2, tp="2"),
    ),
    Case(
        "llmaz-32b-4xl4",
        llmaz(QWEN_32B, "g6.12xlarge", 4),
        "add params: {TP: '4'}",
        llmaz(QWEN_32B, "g6.12xlarge", 4, tp="4"),
    ),
    Case(
        "llmaz-72b-8xl40s",
        llmaz(QWEN_72B, "g6e.48xlarge", 8),
        "add params: {TP: '8'}",
        llmaz(QWEN_72B, "g6e.48xlarge", 8, tp="8"),
    ),
    Case(
        "llmaz-120b-4xl40s",
        llmaz(GPT_120B, "g6e.12xlarge", 4),
        "add params: {TP: '4'}",
        llmaz(GPT_120B, "g6e.12xlarge", 4, tp="4"),
    ),
    Case(
        "llmaz-mixtral-4xl40s",
        llmaz(MIXTRAL, "g6e.12xlarge", 4),
        "add params: {TP: '4'}",
        llmaz(MIXTRAL, "g6e.12xlarge", 4, tp="4"),
    ),
    Case(
        "llmaz-235b-8xh200",
        llmaz(QWEN_235B, "p5en.48xlarge", 8),
        "add params: {TP: '8'}",
        llmaz(QWEN_235B, "p5en.48xlarge", 8, tp="8"),
    ),
    Case(
        "llmaz-r1-14b-4xl4",
        llmaz(R1_14B, "g6.12xlarge", 4),
        "add params: {TP: '4'}",
        llmaz(R1_14B, "g6.12xlarge", 4, tp="4"),
    ),
    Case(
        "llmaz-8b-4xt4",
        llmaz(QWEN_8B, "g4dn.12xlarge", 4),
        "add params: {TP: '4'}",
        llmaz(QWEN_8B, "g4dn.12xlarge", 4, tp="4"),
    ),
    Case(
        "llmaz-sglang-v3",
        llmaz(V3, "p5en.48xlarge", 8, "--context-length", "4096", backend="sglang"),
        "add params: {TP: '8'}",
        llmaz(V3, "p5en.48xlarge", 8, "--context-length", "4096", backend="sglang", tp="8"),
    ),
    Case(
        "llmaz-argument",
        llmaz(LLAMA_70B, "g6e.12xlarge", 4, *SHORT, "--tensor-parallel-size", "2"),
        "set --tensor-parallel-size to 4",
        llmaz(LLAMA_70B, "g6e.12xlarge", 4, *SHORT, "--tensor-parallel-size", "4"),
        "params",
    ),
    # 100,000 tokens do not fit one L4, but the manifest has four: sharing comes before a shorter context.
    Case(
        "llmaz-long-context",
        llmaz("meta-llama/Llama-3.1-8B-Instruct", "g6.12xlarge", 4, "--max-model-len", "100000"),
        "add params: {TP: '4'}",
        llmaz("meta-llama/Llama-3.1-8B-Instruct", "g6.12xlarge", 4, "--max-model-len", "100000", tp="4"),
    ),
    # What does not help is not said.
    Case("llmaz-one-gpu", llmaz(QWEN_32B, "g6.12xlarge", 1), "give each replica 4 accelerators", never="params"),
    Case("llmaz-heads-of-phi-4", llmaz(PHI_4, "g6.12xlarge", 4), "use ", never="params"),
    Case("llmaz-three-gpus", llmaz(QWEN_32B, "g6.12xlarge", 3), "give each replica 4 accelerators", never="TP: '3'"),
    Case("llmaz-too-large", llmaz(V3, "p5.48xlarge", 8), "use g7e.48xlarge", never="params"),
    Case(
        "llmaz-all-used",
        llmaz(V3, "p5.48xlarge", 8, tp="8"),
        "use g7e.48xlarge",
        never="params",
    ),
    Case("llmaz-fits", llmaz(LLAMA_70B, "g6e.12xlarge", 4, tp="4"), ""),
    Case(
        "llmaz-one-gpu-long",
        llmaz("meta-llama/Llama-3.1-8B-Instruct", "g6.2xlarge", 1, "--max-model-len", "100000"),
        "lower the context",
        never="params",
    ),
    # Pods of a Service of llmaz are written by hand: the engine's own flag.
    Case(
        "service-70b",
        service(LLAMA_70B, "g6e.12xlarge", 4),
        "add --tensor-parallel-size 4",
        service(LLAMA_70B, "g6e.12xlarge", 4, "--tensor-parallel-size", "4"),
        "params",
    ),
    Case(
        "service-70b-of-8",
        service(LLAMA_70B, "g6e.48xlarge", 8, "--tensor-parallel-size", "2"),
        "set --tensor-parallel-size to 8",
        service(LLAMA_70B, "g6e.48xlarge", 8, "--tensor-parallel-size", "8"),
    ),
    # LLMKube uses all GPUs unless its field says otherwise.
    Case(
        "llmkube-one",
        llmkube(LLAMA_70B, "g6e.12xlarge", 4, tensorParallelSize=1),
        "set spec.vllmConfig.tensorParallelSize to 4",
        llmkube(LLAMA_70B, "g6e.12xlarge", 4, tensorParallelSize=4),
        "params",
    ),
    Case(
        "llmkube-two-of-8",
        llmkube(LLAMA_70B, "g6e.48xlarge", 8, tensorParallelSize=2),
        "set spec.vllmConfig.tensorParallelSize to 8",
        llmkube(LLAMA_70B, "g6e.48xlarge", 8, tensorParallelSize=8),
    ),
    Case(
        "llmkube-extra",
        llmkube(LLAMA_70B, "g6e.12xlarge", 4, "--tensor-parallel-size", "2"),
        "set --tensor-parallel-size to 4 in spec.extraArgs",
        llmkube(LLAMA_70B, "g6e.12xlarge", 4, "--tensor-parallel-size", "4"),
    ),
    Case("llmkube-derived", llmkube(LLAMA_70B, "g6e.12xlarge", 4), ""),
    Case(
        "llmkube-too-large",
        llmkube(V3, "p5.48xlarge", 8),
        "use g7e.48xlarge",
        never="tensorParallelSize",
    ),
    # A ModelBooster has the engine's flags as keys of a worker's config.
    Case(
        "kthena-70b",
        kthena(LLAMA_70B, "g6e.12xlarge", 4),
        "set config: {tensor-parallel-size: 4}",
        kthena(LLAMA_70B, "g6e.12xlarge", 4, tensor_parallel_size=4),
        "--tensor",
    ),
    Case(
        "kthena-two-of-8",
        kthena(LLAMA_70B, "g6e.48xlarge", 8, tensor_parallel_size=2),
        "set config: {tensor-parallel-size: 8}",
        kthena(LLAMA_70B, "g6e.48xlarge", 8, tensor_parallel_size=8),
    ),
    Case(
        "kthena-two-pods",
        kthena(V3, "p5.48xlarge", 8, pods=2),
        "set config: {tensor-parallel-size: 8, pipeline-parallel-size: 2}",
        kthena(V3, "p5.48xlarge", 8, pods=2, tensor_parallel_size=8, pipeline_parallel_size=2),
    ),
    Case(
        "kthena-second-pod-idle",
        kthena(V3, "p5.48xlarge", 8, pods=2, tensor_parallel_size=8),
        "set config: {tensor-parallel-size: 8, pipeline-parallel-size: 2}",
        kthena(V3, "p5.48xlarge", 8, pods=2, tensor_parallel_size=8, pipeline_parallel_size=2),
    ),
    Case(
        "kthena-fits-two-pods",
        kthena(V3, "p5.48xlarge", 8, pods=2, tensor_parallel_size=8, pipeline_parallel_size=2),
        "",
    ),
    Case(
        "serving-70b",
        serving(LLAMA_70B, "g6e.12xlarge", 4),
        "add --tensor-parallel-size 4",
        serving(LLAMA_70B, "g6e.12xlarge", 4, "--tensor-parallel-size", "4"),
        "config",
    ),
    Case(
        "serving-32b",
        serving(QWEN_32B, "g6.12xlarge", 4, "--tensor-parallel-size", "2"),
        "set --tensor-parallel-size to 4",
        serving(QWEN_32B, "g6.12xlarge", 4, "--tensor-parallel-size", "4"),
    ),
    Case(
        "lws-70b",
        lws(LLAMA_70B, "g6e.12xlarge", 4),
        "add --tensor-parallel-size 4",
        lws(LLAMA_70B, "g6e.12xlarge", 4, "--tensor-parallel-size", "4"),
    ),
    # Three accelerators cannot cut 64 heads; two of them can, and that is enough for 61 GiB of two L40S.
    Case(
        "lws-three-gpus",
        lws(QWEN_32B, "g6e.12xlarge", 3),
        "add --tensor-parallel-size 2",
        lws(QWEN_32B, "g6e.12xlarge", 3, "--tensor-parallel-size", "2"),
    ),
    Case(
        "lws-two-pods",
        lws(V3, "p5.48xlarge", 8, "--tensor-parallel-size", "8", size=2),
        "set --tensor-parallel-size to 8 and add --pipeline-parallel-size 2",
        lws(V3, "p5.48xlarge", 8, "--tensor-parallel-size", "8", "--pipeline-parallel-size", "2", size=2),
    ),
    Case(
        "lws-heads-of-phi-4",
        lws(PHI_4, "g6.12xlarge", 4),
        "add --tensor-parallel-size 2",
        lws(PHI_4, "g6.12xlarge", 4, "--tensor-parallel-size", "2"),
    ),
    Case(
        "sglang-70b",
        sglang(LLAMA_70B, "g6e.12xlarge", 4),
        "add --tp-size 4",
        sglang(LLAMA_70B, "g6e.12xlarge", 4, "--tp-size", "4"),
        "--tensor-parallel-size",
    ),
    Case("sglang-fits", sglang(QWEN_8B, "g6e.2xlarge", 1), ""),
]


def test_there_are_forty() -> None:
    assert len(CASES) == len({case.name for case in CASES}) == 40


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_the_first_step_is_what_the_manifest_lacks(case: Case) -> None:
    (found,) = judged(*case.documents)
    problems = [problem.reason for problem in check_memory([found])]
    if not case.first:
        assert not problems, problems
        return
    (reason,) = problems
    steps = _steps(reason)
    assert steps[0].startswith(case.first), reason
    assert not case.never or not any(case.never in step for step in steps), reason


@pytest.mark.parametrize("case", [case for case in CASES if case.fixed], ids=lambda case: case.name)
def test_the_first_step_helps(case: Case) -> None:
    (before,), (after,) = judged(*case.documents), judged(*case.fixed)
    assert before.verdict.fit in (Fit.EXCEEDED, Fit.TIGHT)
    assert after.verdict.fit is Fit.FITS, after.text
    assert after.instance_type == before.instance_type


@pytest.mark.parametrize("model", [QWEN_8B, QWEN_32B, QWEN_72B, MIXTRAL, GPT_120B, V3])
@pytest.mark.parametrize("backend", ["vllm", "sglang"])
def test_what_is_said_to_fit_does_when_it_is_written(model: str, backend: str) -> None:
    """An engine takes other amounts on other accelerators: 1,024 requests at once on an H100, 256 on an L4."""
    limit = ("--max-model-len", "16384") if backend == "vllm" else ("--context-length", "16384")
    (found,) = judged(*llmaz(model, "g6.2xlarge", 1, *limit, backend=backend))
    assert found.verdict.types
    for choice in found.verdict.types:
        gpus = choice.parallel.tensor
        manifest = llmaz(model, choice.instance_type, gpus, *limit, tp=str(gpus) if gpus > 1 else "", backend=backend)
        (again,) = judged(*manifest)
        assert again.verdict.fit is Fit.FITS, (choice, again.text)


def _steps(reason: str) -> list[str]:
    """Return the remedies of a message, between the figures and the list of cheapest types."""
    figures_and_steps = reason.partition("; the cheapest instance types")[0]
    _, *steps = re.split(r"; (?:or )?|, or ", figures_and_steps)
    return steps
