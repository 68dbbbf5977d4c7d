"""Misspelled names of models, and names of other models."""

import time
from pathlib import Path

import pytest

from components.checks.memory.catalog import names
from components.checks.memory.misspelling import misspelled

OTHER_MODELS = Path(__file__).with_name("other_models.txt").read_text(encoding="utf-8").split()
"""Repositories on Hugging Face, of which the catalog has few, and some private names."""


@pytest.mark.parametrize("name", OTHER_MODELS)
def test_other_models_are_not_accused(name: str) -> None:
    assert not misspelled(name)


@pytest.mark.parametrize("name", sorted(names()))
def test_known_models_are_not_accused(name: str) -> None:
    assert not misspelled(name)
    assert not misspelled(name.lower())


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("Qwen/Qwen2.5-7B-Instrct", "Qwen/Qwen2.5-7B-Instruct"),
        ("Qwen/Qwen2.5-7B-Instrcut", "Qwen/Qwen2.5-7B-Instruct"),
        ("Qwen/Qwen3-8BB", "Qwen/Qwen3-8B"),
        ("Qwn/Qwen3-8B", "Qwen/Qwen3-8B"),
        ("Qwen/Qwen3_8B", "Qwen/Qwen3-8B"),
        ("Qwen/Qwen2.5-7BInstruct", "Qwen/Qwen2.5-7B-Instruct"),
        ("meta-lama/Llama-3.1-8B-Instruct", "meta-llama/Llama-3.1-8B-Instruct"),
        ("mistralai/Mistral-7B-Instuct-v0.3", "mistralai/Mistral-7B-Instruct-v0.3"),
        ("deepseek-ai/DeepSek-R1", "deepseek-ai/DeepSeek-R1"),
        ("openai/gtp-oss-20b", "openai/gpt-oss-20b"),
        ("google/gema-3-27b-it", "google/gemma-3-27b-it"),
        ("moonshotai/Kimmi-K2-Instruct", "moonshotai/Kimi-K2-Instruct"),
    ],
)
def test_slips_of_the_keyboard(name: str, known: str) -> None:
    assert misspelled(name) == known


def test_long_names_are_not_compared() -> None:
    start = time.process_time()
    assert not misspelled("Qwen/" + "a" * 1_000_000)
    assert not misspelled("-" * 1_000_000)
    assert not misspelled("a-" * 30 + "/" + "b-" * 30)
    assert time.process_time() - start < 1
