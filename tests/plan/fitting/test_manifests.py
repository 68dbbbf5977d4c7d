"""The manifests of ``fit`` are planned with the verdict, the cost and the cache that it states."""

import pytest

from components.checks.memory.cases import Fit
from components.contract.documents.writer import dump_all
from components.contract.problems import errors
from components.families import parse
from components.families.authoring import InexpressibleError, WeightsSource
from components.fleet.instances import Instance
from components.plan.fitting.manifests import families, manifests_of
from components.plan.fitting.options import FitOption, fit_answer
from components.plan.fitting.question import EngineChoice, FitQuestion, engine_choice
from components.plan.plan import Plan, plan
from components.plan.sections.costs import bill_of

REGION = "us-east-1"


def question(model: str, *, users: int | None = None, context: int | None = 8192, **fields: object) -> FitQuestion:
    serving = engine_choice(str(fields.pop("engine", "vllm==0.20.0")))
    assert isinstance(serving, EngineChoice), serving
    return FitQuestion(model, serving, REGION, context=context, users=users, **fields)  # type: ignore[arg-type]


def hub(asked: FitQuestion) -> WeightsSource:
    return WeightsSource(f"hf://{asked.model}")


def option_on(asked: FitQuestion, instance_type: str) -> FitOption:
    def is_wanted(node: Instance) -> bool:
        return node.name == instance_type

    (option,) = fit_answer(asked, is_wanted).options
    return option


def planned(family: str, asked: FitQuestion, option: FitOption) -> Plan:
    manifests = parse(dump_all(manifests_of(family, asked, option, hub(asked))))
    found = plan(manifests)
    assert not errors(found.problems), errors(found.problems)
    return found


QUESTIONS = {
    "one accelerator": (question("Qwen/Qwen3-8B"), "g6e.xlarge"),
    "tight": (question("Qwen/Qwen3-8B", context=16384), "g6.xlarge"),
    "tensor parallelism": (question("meta-llama/Llama-3.3-70B-Instruct"), "g6e.48xlarge"),
    "part of a node": (question("Qwen/Qwen3-8B"), "g6.12xlarge"),
    "users": (question("Qwen/Qwen3-8B", users=90), "g6e.xlarge"),
    "the model's own context": (question("Qwen/Qwen3-8B", context=None), "g6e.xlarge"),
    "quantized while loading": (question("Qwen/Qwen3-14B", quantization="fp8"), "g6e.xlarge"),
    "a cache of 8 bits": (question("Qwen/Qwen3-8B", args=("--kv-cache-dtype", "fp8")), "g6.xlarge"),
    "estimated from its name": (question("acme/support-24B"), "p5.4xlarge"),
    "an older engine": (question("Qwen/Qwen3-8B", engine="vllm==0.9.2"), "g6e.xlarge"),
}


@pytest.mark.parametrize("family", ["llmaz", "llmkube", "kthena"])
@pytest.mark.parametrize("name", QUESTIONS)
def test_a_plan_states_the_same_figures(name: str, family: str) -> None:
    asked, instance_type = QUESTIONS[name]
    option = option_on(asked, instance_type)
    found = planned(family, asked, option)
    (judged,) = found.verdicts
    mine, its = option.verdict, judged.verdict
    assert (its.fit, its.parts, its.usable, its.context) == (mine.fit, mine.parts, mine.usable, mine.context)
    assert (its.sequences, its.largest_context, its.margin) == (mine.sequences, mine.largest_context, mine.margin)
    assert judged.instance_type == instance_type
    assert judged.accelerators == option.parallel.accelerators
    # Without a cluster, a plan shows what the share of the nodes costs on demand.
    (cost,) = bill_of(found).models
    assert cost.usd_per_hour
    assert cost.usd_per_hour.now == option.share_usd_per_hour
    assert cost.accelerators.now == option.parallel.accelerators * option.replicas


@pytest.mark.parametrize(("family", "limit"), [("llmaz", "4"), ("llmkube", None), ("kthena", None)])
def test_an_engine_is_not_throttled(family: str, limit: str | None) -> None:
    """Of the four cores of a g6e.xlarge, a pod requests one; the runtime of llmaz limits it to four."""
    asked = question("Qwen/Qwen3-8B")
    (judged,) = planned(family, asked, option_on(asked, "g6e.xlarge")).verdicts
    resources = judged.workload.container["resources"]
    assert resources["requests"]["cpu"] == "1"
    assert resources["limits"].get("cpu") == limit


@pytest.mark.parametrize("family", ["llmaz", "kthena"])
def test_a_replica_on_two_nodes(family: str) -> None:
    asked = question("deepseek-ai/DeepSeek-R1")
    option = option_on(asked, "p5.48xlarge")
    assert (option.parallel.tensor, option.parallel.pipeline, option.nodes) == (8, 2, 2)
    found = planned(family, asked, option)
    (judged,) = found.verdicts
    assert (judged.verdict.fit, judged.verdict.parts) == (option.verdict.fit, option.verdict.parts)
    (cost,) = bill_of(found).models
    assert cost.usd_per_hour
    assert cost.usd_per_hour.now == option.usd_per_hour == option.share_usd_per_hour


def test_what_a_family_cannot_express_is_refused() -> None:
    asked = question("deepseek-ai/DeepSeek-R1")
    option = option_on(asked, "p5.48xlarge")
    with pytest.raises(InexpressibleError, match="a replica of LLMKube is one pod"):
        manifests_of("llmkube", asked, option, hub(asked))
    gguf = question("bartowski/Qwen2.5-7B-Instruct-GGUF:Q4_K_M", engine="llamacpp")
    with pytest.raises(InexpressibleError, match="Kthena has no backend for llamacpp"):
        manifests_of("kthena", gguf, option_on(gguf, "g6.xlarge"), hub(gguf))


def test_a_tight_option_is_a_warning_of_the_plan() -> None:
    asked, instance_type = QUESTIONS["tight"]
    option = option_on(asked, instance_type)
    assert option.verdict.fit is Fit.TIGHT
    found = planned("llmaz", asked, option)
    assert [problem.rule for problem in found.problems if problem.rule] == ["memory-tight"]


def test_the_families_with_kinds_for_models_can_be_written() -> None:
    assert set(families()) == {"llmaz", "llmkube", "kthena"}
