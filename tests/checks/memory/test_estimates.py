"""Models of which no source says the shape: 40 names, and what may be said of each.

The expected verdicts follow by hand from the number of parameters in the name and the bits of its type, of which the
names that publishers give were found to differ by -8 % to +25 % (Llama-2-7b has 6.74 billion, Qwen2.5-VL-3B 3.75).
What vLLM may use: 13.1 GiB of a T4, 19.8 of an L4, 40.0 of an L40S, 71.3 of an H100. "Exceeded" is where not even the
least fits, "fits" where the most does.
"""

from dataclasses import dataclass

import pytest

from components.checks.memory.cases import Fit
from components.checks.memory.verdicts import WorkloadVerdict
from tests.checks.memory.fleets import Object, leader_worker_set, only, open_model, playground, pod

SHORT = ("--max-model-len", "4096", "--max-num-seqs", "64")
T4, L4, L40S, H100 = "g4dn.xlarge", "g6.2xlarge", "g6e.2xlarge", "p5.4xlarge"


@dataclass(frozen=True)
class Case:
    """A model by its name.

    Attributes:
        says: What the verdict must say.
    """

    model: str
    node: str
    fit: Fit
    says: str = ""
    args: tuple[str, ...] = SHORT
    engine: str = "vllm"

    @property
    def documents(self) -> tuple[Object, ...]:
        gpus = 2 if "12xlarge" in self.node else 1
        tensor = ("--tensor-parallel-size", "2") if gpus > 1 else ()
        commands = {
            "vllm": ["vllm", "serve", self.model, *self.args, *tensor],
            "sglang": ["python3", "-m", "sglang.launch_server", "--model-path", self.model, *self.args],
            "llamacpp": ["/app/llama-server", "-m", self.model, *self.args],
        }
        images = {
            "vllm": "vllm/vllm-openai:v0.20.0",
            "sglang": "lmsysorg/sglang:v0.5.9",
            "llamacpp": "ghcr.io/ggml-org/llama.cpp:server-cuda-b9843",
        }
        template = pod(self.node, commands[self.engine], gpus)
        template["spec"]["containers"][0]["image"] = images[self.engine]
        return (leader_worker_set(template),)


CASES = [
    # 24 billion in 16 bits are 44.7 GiB, and 8 % fewer are 41.1.
    Case("acme/support-24B", L40S, Fit.EXCEEDED, "24B parameters in its name"),
    Case("acme/support-24B", H100, Fit.FITS, "estimate"),
    Case("acme/chat-70b", L4, Fit.EXCEEDED, "estimate"),
    Case("acme/chat-13b", L4, Fit.EXCEEDED, "13B parameters"),
    Case("acme/chat-13b", L40S, Fit.FITS),
    # A name with experts counts what they share more than once: Mixtral-8x7B has 46.7 billion, 0.83 of 56.
    Case("acme/mix-8x7B", H100, Fit.EXCEEDED, "8x7B"),
    Case("acme/mix-8x7B-AWQ", H100, Fit.FITS, "4 bits"),
    Case("acme/tune-7b-GPTQ-Int4", T4, Fit.FITS, "4 bits"),
    # 70 billion in 4 bits are 32 GiB and more, of 40.0.
    Case("acme/tune-70B-AWQ", L40S, Fit.TIGHT),
    Case("acme/tune-70B-AWQ", "g6.12xlarge", Fit.TIGHT),
    Case("acme/tune-70B-FP8", H100, Fit.TIGHT, "8 bits"),
    Case("acme/tune-70B-FP8", L40S, Fit.EXCEEDED, "8 bits"),
    # All experts are in memory, not only those that a token goes through.
    Case("acme/tune-30B-A3B", L40S, Fit.EXCEEDED, "30B parameters"),
    Case("acme/tune-30B-A3B-FP8", L40S, Fit.TIGHT, "30B parameters"),
    Case("acme/tune-0.6B", L4, Fit.FITS, "0.6B"),
    Case("acme/tune-500M", L4, Fit.FITS, "500M"),
    Case("acme/bloom-7b1", L4, Fit.TIGHT, "7.1B"),
    Case("acme/tune-1_6b", L4, Fit.FITS, "1.6B"),
    # The number in the name is not that of all parameters, or there is none.
    Case("acme/moe-17B-16E", H100, Fit.UNKNOWN, "unknown model acme/moe-17B-16E"),
    Case("acme/moe-A3B", H100, Fit.UNKNOWN, "unknown model acme/moe-A3B"),
    Case("acme/small-E4B", H100, Fit.UNKNOWN, "unknown model acme/small-E4B"),
    Case("acme/assistant", H100, Fit.UNKNOWN, "describe it in modelShapes"),
    Case("acme/assistant-128k", H100, Fit.UNKNOWN, "describe it in modelShapes"),
    Case("acme/eagle3-llama-8b", H100, Fit.UNKNOWN, "describe it in modelShapes"),
    # Without a context nobody can say that it fits, but that it does not.
    Case("acme/tune-8B", L40S, Fit.UNKNOWN, "context", args=()),
    Case("acme/tune-70B", L4, Fit.EXCEEDED, "70B parameters", args=()),
    # These publish weights in 8 or 4 bits without a word of it in the name: gpt-oss-120b has 60.8 GiB.
    Case("acme/gpt-oss-120b-tuned", L4, Fit.EXCEEDED, "4 to 16 bits"),
    Case("acme/gpt-oss-120b-tuned", H100, Fit.TIGHT, "4 to 16 bits"),
    Case("mistralai/Future-Small-24B", L40S, Fit.TIGHT, "4 to 16 bits"),
    # Models that are made from known ones have their layers.
    Case("acme/Qwen3-8B-support", L4, Fit.FITS, "Qwen/Qwen3-8B"),
    Case("/models/Qwen3-8B", L4, Fit.FITS, "Qwen/Qwen3-8B"),
    # 31.2 billion in 4.16 bits and 1.56 billion of the vocabulary in 16: 18.0 GiB, and 1.0 of cache.
    Case("acme/Qwen3-32B-AWQ", L40S, Fit.FITS, "Qwen/Qwen3-32B"),
    Case("acme/Qwen3-32B-AWQ", L4, Fit.TIGHT, "Qwen/Qwen3-32B"),
    # DeepSeek-R1 has 671 billion, which nothing says of this one.
    Case("acme/DeepSeek-R1-mini", L4, Fit.UNKNOWN, "unknown model acme/DeepSeek-R1-mini"),
    # Files of llama.cpp: 4.89 bits of Q4_K_M, 8.5 of Q8_0.
    Case("/models/acme-8B-Q4_K_M.gguf", T4, Fit.FITS, "Q4_K_M", ("-c", "4096"), "llamacpp"),
    Case("/models/acme-70B-Q4_K_M.gguf", L4, Fit.EXCEEDED, "Q4_K_M", ("-c", "4096", "-ngl", "99"), "llamacpp"),
    Case("/models/acme-8B.gguf", T4, Fit.UNKNOWN, "the size of the file", ("-c", "4096"), "llamacpp"),
    Case("/models/qwen3-8b-q8_0.gguf", T4, Fit.FITS, "Qwen/Qwen3-8B", ("-c", "4096"), "llamacpp"),
    Case("acme/support-24B", L40S, Fit.EXCEEDED, "24B parameters", ("--context-length", "4096"), "sglang"),
    # Quantized by the engine while it loads: a half of 44.7 GiB.
    Case("acme/support-24B", L40S, Fit.FITS, "8 bits", (*SHORT, "--quantization", "fp8")),
]


def test_there_are_forty() -> None:
    assert len(CASES) == len({(case.model, case.node, case.engine, case.args) for case in CASES}) == 40


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.model}-{case.node}-{len(case.args)}-{case.engine}")
def test_the_verdict_on_a_model_by_its_name(case: Case) -> None:
    found = only(*case.documents)
    assert found.verdict.fit is case.fit, found.verdict.reason
    assert case.says in found.verdict.reason
    if case.fit is not Fit.UNKNOWN:
        _is_marked(found)


@pytest.mark.parametrize(
    ("method", "node", "fit"),
    [
        # As with a name that says AWQ: 70 billion in 4 bits are 30 GiB and more.
        ("awq", L4, Fit.EXCEEDED),
        ("awq", L40S, Fit.TIGHT),
        ("mxfp4", L4, Fit.EXCEEDED),
        # Weights of GPTQ have 2, 3, 4 or 8 bits.
        ("gptq", L4, Fit.TIGHT),
    ],
)
def test_a_flag_may_state_the_type_of_the_weights(method: str, node: str, fit: Fit) -> None:
    found = only(*Case("acme/tune-70B", node, fit, args=(*SHORT, "--quantization", method)).documents)
    assert found.verdict.fit is fit, found.verdict.reason


def _is_marked(found: WorkloadVerdict) -> None:
    """Every verdict from a name says that it is an estimate, and how to replace it."""
    assert "estimate" in found.text
    assert "estimate" in found.verdict.reason
    assert "modelShapes" in " ".join([found.verdict.reason, *found.verdict.notes])


def test_a_published_model_that_no_catalog_has() -> None:
    """Mistral-Small-24B-Base has 43.9 GiB of weights, and vLLM may use 40.0 of an L40S."""
    found = only(*Case("mistralai/Mistral-Small-24B-Base-2501", L40S, Fit.EXCEEDED).documents)
    assert found.verdict.fit is Fit.EXCEEDED
    _is_marked(found)


def test_an_address_of_a_bucket_has_the_name_of_its_folder() -> None:
    uri = "oss://models.oss-cn-hangzhou.aliyuncs.com/llm/Qwen2.5-7B-Instruct"
    found = only(open_model({"uri": uri}, types=(L40S,)), playground("--max-model-len", "4096"))
    assert found.verdict.fit is Fit.FITS
    assert "Qwen/Qwen2.5-7B-Instruct" in found.verdict.reason
    _is_marked(found)
