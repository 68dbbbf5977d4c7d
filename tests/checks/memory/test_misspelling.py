"""Misspelled names of models, and names of other models."""

import time
from io import BytesIO
from pathlib import Path

import pytest
import yaml

from components.checks.memory.catalog import names
from components.checks.memory.misspelling import misspelled
from components.contract.findings.ids import RuleId
from components.families import load_stream
from components.plan.plan import plan

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


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("https://huggingface.co/Qwen/Qwen2-7B-Instruct", "Qwen/Qwen2-7B-Instruct"),
        ("huggingface.co/acme/private-8b/tree/main", "acme/private-8b"),
        ("https://modelscope.cn/models/Qwen/Qwen2-7B-Instruct", "Qwen/Qwen2-7B-Instruct"),
        ("Qwen2-7B-Instruct", "Qwen/Qwen2-7B-Instruct"),
        ("https://huggingface.co/Qwen/Qwen2-7B-Instruct-GGUF/resolve/main/qwen2-7b-instruct-q4_0.gguf", ""),
        ("https://models.example.com/acme/private-8b", ""),
        ("private-8b", ""),
    ],
)
def test_pages_and_names_without_an_owner(name: str, known: str) -> None:
    assert misspelled(name) == known


def test_long_names_are_not_compared() -> None:
    start = time.process_time()
    assert not misspelled("Qwen/" + "a" * 1_000_000)
    assert not misspelled("-" * 1_000_000)
    assert not misspelled("a-" * 30 + "/" + "b-" * 30)
    assert time.process_time() - start < 1


@pytest.mark.parametrize(
    ("uri", "accused"), [("hf://Qwen2-7B-Instruct", True), ("pvc://models/Qwen2-7B-Instruct", False)]
)
def test_the_last_part_of_a_path_needs_no_owner(uri: str, *, accused: bool) -> None:
    spec = {
        "type": "vLLM",
        "name": "b",
        "modelURI": uri,
        "cacheURI": "pvc://models",
        "minReplicas": 1,
        "maxReplicas": 1,
        "workers": [{"type": "server", "image": "vllm/vllm-openai:v0.11.0", "replicas": 1, "pods": 1}],
    }
    booster = {
        "apiVersion": "workload.serving.volcano.sh/v1alpha1",
        "kind": "ModelBooster",
        "metadata": {"name": "m"},
        "spec": {"backends": [spec]},
    }
    manifests = load_stream(BytesIO(yaml.safe_dump(booster).encode()), "models.yaml")
    problems = plan(manifests).problems
    rules = {problem.rule for problem in problems}
    assert (RuleId.NAME_MISSPELLED in rules) is accused, rules
