"""Names that someone types, and numbers of parameters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.checks.memory.catalog import names
from components.plan.fitting.names import catalog_name, named_by_parameters, near_names

KNOWN = sorted(names())
OWN = [name.rpartition("/")[2].lower() for name in KNOWN]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Qwen/Qwen3-8B", "Qwen/Qwen3-8B"),
        ("qwen3-8b", "Qwen/Qwen3-8B"),
        ("QWEN/QWEN3-8B", "Qwen/Qwen3-8B"),
        (" llama-3.1-8b-instruct ", "meta-llama/Llama-3.1-8B-Instruct"),
        ("gpt_oss_20b", "openai/gpt-oss-20b"),
        ("Llama-3.1-70B-Instruct", "meta-llama/Meta-Llama-3.1-70B-Instruct"),
        ("meta-llama/llama-3.1-8b", "meta-llama/Meta-Llama-3.1-8B"),
        ("deepseek r1", "deepseek-ai/DeepSeek-R1"),
    ],
)
def test_case_and_publisher_may_be_missing(text: str, name: str) -> None:
    assert catalog_name(text) == name


@given(st.sampled_from(KNOWN), st.randoms(use_true_random=False))
def test_any_case_of_a_known_name_is_that_model(name: str, random: object) -> None:
    text = "".join(letter.upper() if random.random() < 0.5 else letter.lower() for letter in name)  # type: ignore[attr-defined]
    assert catalog_name(text) == name


@pytest.mark.parametrize("name", [name for name in KNOWN if OWN.count(name.rpartition("/")[2].lower()) == 1])
def test_the_publisher_of_every_model_may_be_missing(name: str) -> None:
    assert catalog_name(name.rpartition("/")[2]) == name


def test_a_name_of_another_publisher_is_not_the_known_model() -> None:
    found = catalog_name("acme/Qwen3-8B")
    assert isinstance(found, tuple)
    assert "Qwen/Qwen3-8B" in found


def test_similar_names_are_listed_nearest_first() -> None:
    assert near_names("qwen3-32b-instruct")[0].startswith("Qwen/Qwen3")
    assert "meta-llama/Llama-3.3-70B-Instruct" in near_names("llama-3.3-70b")
    assert near_names("zzzzzzzzzzzzzz") == ()


@given(st.text(max_size=60))
def test_any_text_has_an_answer(text: str) -> None:
    found = catalog_name(text)
    assert found in KNOWN if isinstance(found, str) else set(found) <= set(KNOWN)


@pytest.mark.parametrize(
    ("text", "name"), [("70B", "unnamed/model-70B"), ("0.6b", "unnamed/model-0.6B"), ("1T", "unnamed/model-1T")]
)
def test_a_number_of_parameters_is_a_name(text: str, name: str) -> None:
    assert named_by_parameters(text) == name


@pytest.mark.parametrize("text", ["", "70", "B", "-7B", "7 B", "99999999T", "0B", "7K", "1e9B"])
def test_other_numbers_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="such as 7B"):
        named_by_parameters(text)
