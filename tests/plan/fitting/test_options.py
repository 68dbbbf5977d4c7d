"""Instance types that a model fits: order, users, replicas, and reasons of the others."""

from decimal import Decimal

import pytest

from components.checks.memory.cases import Fit
from components.fleet.instances import Instance, instance, instances
from components.plan.fitting.options import FitAnswer, fit_answer
from components.plan.fitting.question import EngineChoice, FitQuestion, engine_choice, split_args
from components.plan.fitting.terms import terms_of

MODEL = "Qwen/Qwen3-8B"
REGION = "us-east-1"


def asked(model: str = MODEL, engine: str = "vllm==0.20.0", **fields: object) -> FitQuestion:
    serving = engine_choice(engine)
    assert isinstance(serving, EngineChoice), serving
    return FitQuestion(model, serving, REGION, **{"context": 16384, **fields})  # type: ignore[arg-type]


def on(accelerator: str) -> FitAnswer:
    return fit_answer(asked(), lambda node: node.accelerator == accelerator)


def test_the_cheapest_comes_first_and_prices_are_those_of_the_tables() -> None:
    answer = fit_answer(asked())
    prices = [option.usd_per_hour for option in answer.options]
    priced = [price for price in prices if price is not None]
    assert prices == sorted(priced) + [None] * (len(prices) - len(priced))
    assert len(priced) > 20
    for option in answer.options:
        assert (option.price and option.price.usd) == instances()[option.node.name].usd_per_hour


def test_every_instance_type_is_an_option_a_refusal_or_counted() -> None:
    answer = fit_answer(asked())
    named = {option.node.name for option in answer.options}
    refused = {name for refusal in answer.refusals for name in refusal.types}
    assert not named & refused
    others = {name for name, node in instances().items() if node.accelerators} - named - refused
    # Types of an accelerator with an option are left out where more of them would be needed.
    assert {instances()[name].accelerator for name in others} <= {
        option.node.accelerator for option in answer.options
    }


def test_a_refusal_says_how_much_is_short_and_which_context_fits() -> None:
    """15.0 GiB of weights and 16 of a request of 131,072 tokens, on 19.8 usable GiB."""
    llama = asked("meta-llama/Llama-3.1-8B-Instruct", "vllm==0.7.3", context=None)
    (refusal,) = fit_answer(llama, lambda node: node.name == "g6.2xlarge", count=1).refusals
    # docs/memory.md shows the same figures of validate.
    assert refusal.reason == "short by 11.4 GiB"
    assert refusal.context == 21184
    assert refusal.types == ("g6.2xlarge",)


def test_users_set_the_replicas_and_the_nodes() -> None:
    one = next(option for option in fit_answer(asked()).options if option.node.name == "g6e.xlarge")
    many = next(option for option in fit_answer(asked(users=50)).options if option.node.name == "g6e.xlarge")
    assert one.replicas == one.nodes == 1
    assert many.replicas == -(-50 // many.users) == many.nodes
    assert many.usd_per_hour == (many.price.usd if many.price else 0) * many.nodes


def test_replicas_share_a_node_with_several_accelerators() -> None:
    (option,) = fit_answer(asked(users=20), lambda node: node.name == "g6e.12xlarge").options
    assert option.node.accelerators == 4
    assert option.nodes == -(-option.replicas * option.per_node // 4)
    assert option.share_usd_per_hour is not None
    assert option.usd_per_hour is not None
    assert option.share_usd_per_hour <= option.usd_per_hour


def test_several_nodes_are_offered_only_if_no_instance_is_enough() -> None:
    assert all(option.spread == 1 for option in fit_answer(asked()).options)
    named = fit_answer(
        asked("deepseek-ai/DeepSeek-R1", context=8192), lambda node: node.name == "p5.48xlarge"
    ).options
    assert [(option.parallel.tensor, option.parallel.pipeline, option.nodes) for option in named] == [(8, 2, 2)]


@pytest.mark.parametrize(
    ("engine", "args", "is_computed"),
    [
        ("vllm==0.7.3", (), False),
        ("vllm==0.7.3", ("--dtype", "half"), True),
        # Falls back to float16 by itself since 0.9.0 (_resolve_auto_dtype).
        ("vllm==0.20.0", (), True),
        ("vllm==0.20.0", ("--dtype", "bfloat16"), False),
    ],
)
def test_old_accelerators_need_half_precision(engine: str, args: tuple[str, ...], *, is_computed: bool) -> None:
    """vLLM issue 1157. 15.3 GiB of weights do not fit the 14.56 GiB of one T4."""
    answer = fit_answer(asked(engine=engine, args=args), lambda node: node.name == "g4dn.xlarge")
    if is_computed:
        assert all(option.spread > 1 for option in answer.options)
        assert not any("compute capability" in refusal.reason for refusal in answer.refusals)
    else:
        (refusal,) = answer.refusals
        assert "computes bfloat16 from compute capability 8.0 on" in refusal.reason
        assert refusal.reason.endswith("; add --arg=--dtype=half")


def test_no_accelerator_is_guessed() -> None:
    reasons = {refusal.accelerator: refusal.reason for refusal in fit_answer(asked()).refusals}
    assert "no figures" in reasons["Trainium"]
    assert "no figures" in reasons["T4g"]


def test_a_model_of_unknown_size_has_a_reason_and_no_option() -> None:
    answer = fit_answer(asked("moonshotai/Kimi-K3"))
    assert not answer.options
    assert "neither the number of parameters nor the size of the weights is known" in answer.unknown


def test_heads_that_do_not_divide_are_not_offered() -> None:
    """Qwen2.5-0.5B has 14 heads: 2 is the only degree above 1 of a node with 8 accelerators (vLLM issue 2652)."""
    answer = fit_answer(asked("Qwen/Qwen2.5-0.5B"), lambda node: node.name == "g6.48xlarge", count=4)
    assert not answer.options
    assert "cannot" in answer.refusals[0].reason


def test_the_cache_is_what_the_other_terms_leave() -> None:
    for option in on("L40S").options:
        verdict = option.verdict
        fixed = sum(part.size for part in verdict.parts if not part.name.startswith(("cache", "states")))
        assert option.cache_bytes == verdict.usable - fixed
        assert option.users * 16384 * 147456 <= option.cache_bytes * option.parallel.tensor


def test_the_terms_of_the_total_add_up() -> None:
    option = on("L40S").options[0]
    terms = terms_of(option.verdict)
    assert sum(term.size for term in terms if term.counted) == option.verdict.needed
    assert all(term.source for term in terms)
    assert {"weights", "engine", "activations", "cache of one request"} <= {
        term.name for term in terms if term.counted
    }


def test_quantization_shrinks_the_weights() -> None:
    node = instance("g6.xlarge")
    assert isinstance(node, Instance)
    (whole,) = fit_answer(asked(), lambda other: other is node).options
    (quantized,) = fit_answer(asked(quantization="fp8"), lambda other: other is node).options
    assert (whole.verdict.fit, quantized.verdict.fit) == (Fit.TIGHT, Fit.FITS)
    assert quantized.cache_bytes > whole.cache_bytes + 5 * 2**30


def test_a_region_without_a_price_comes_last_and_has_none() -> None:
    serving = engine_choice("vllm")
    assert isinstance(serving, EngineChoice)
    answer = fit_answer(FitQuestion(MODEL, serving, "eu-north-1", context=4096))
    priced = [option.usd_per_hour for option in answer.options]
    first_without = next((i for i, price in enumerate(priced) if price is None), len(priced))
    assert all(price is None for price in priced[first_without:])
    assert all(price is not None and price > Decimal(0) for price in priced[:first_without])


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        ("vllm==0.11.0", "v0.11.0"),
        ("vLLM==v0.9.2", "v0.9.2"),
        ("llamacpp==b6400", "server-cuda-b6400"),
        ("tgi==3.2.0", "3.2.0"),
    ],
)
def test_a_version_becomes_the_tag_of_the_image(text: str, tag: str) -> None:
    serving = engine_choice(text)
    assert isinstance(serving, EngineChoice), serving
    assert serving.tag == tag
    assert serving.engine.version(tag)


@pytest.mark.parametrize("text", ["", "vvv", "vllm==", "vllm==latest", "vllm=0.9"])
def test_other_engines_are_refused_with_the_known_ones(text: str) -> None:
    message = engine_choice(text)
    assert isinstance(message, str)
    assert "vllm" in message


def test_flags_are_split_into_words() -> None:
    assert split_args(["--dtype=half", "--enforce-eager", "--a b=c"]) == (
        "--dtype", "half", "--enforce-eager", "--a", "b=c",
    )  # fmt: skip
