"""The setting modelShapes: what is known of a team's own models, and what is wrong with what it says."""

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from components.checks.memory.shapes import Layers
from components.checks.memory.workloads.known import KnownShapes
from components.contract.findings.ids import RuleId
from components.families import load
from components.plan.plan import plan
from components.plan.sections.shapes import ShapeSettings
from components.plan.settings import FleetSettings
from components.resources.serving.fleet.files import read_text

NAME = "team/own"
GIB = 2**30
LLAMA: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_attention_heads": 32,
    "num_hidden_layers": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "max_position_embeddings": 8192,
    "torch_dtype": "bfloat16",
    "tie_word_embeddings": False,
}


def settings(**shape: Any) -> FleetSettings:
    return FleetSettings.model_validate({"modelShapes": {NAME: shape}, "file": "Pulumi.dev.yaml"})


def known(**shape: Any) -> KnownShapes:
    return settings(**shape).environment(read_text).shapes


def test_numbers_typed_by_hand() -> None:
    found = known(weightsGib=15, layers=32, kvHeads=8, headDim=128, dtype="bfloat16", maxContext=8192, heads=32)
    own = found.own[NAME]
    assert own.is_sized
    assert own.shape.weights_bytes == 15 * GIB
    assert own.shape.layers == (Layers(32, 8, 128, 128),)
    assert (own.shape.name, own.shape.dtype, own.shape.max_context, own.shape.heads) == (NAME, "bfloat16", 8192, 32)


def test_parameters_without_a_size() -> None:
    own = known(parameters=8_030_261_248, dtype="bfloat16").own[NAME]
    assert not own.is_sized
    assert (own.shape.parameters, own.shape.weights_bytes) == (8_030_261_248, None)


def test_a_config_of_transformers(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(LLAMA), encoding="utf-8")
    own = known(config=str(tmp_path / "config.json")).own[NAME]
    assert own.shape.layers == (Layers(32, 8, 128, 128),)
    # Llama 3 8B computed from its configuration (aws-gpu spec 15).
    assert own.shape.parameters == 8_030_261_248


def test_a_known_model_and_another_size() -> None:
    own = known(like="Qwen/Qwen3-8B", weightsGib=4.7).own[NAME]
    # Qwen3-8B: 36 layers of 8 heads of 128 numbers (aws-gpu spec 16).
    assert own.shape.layers == (Layers(36, 8, 128, 128),)
    assert own.shape.weights_bytes == int(4.7 * GIB)
    assert own.is_sized
    assert not known(like="Qwen/Qwen3-8B").own[NAME].is_sized


BROKEN = [
    ("none.json", None, "cannot be read"),
    ("folder", "folder", "is not a file"),
    ("text.json", b"\xff\xfe\xff", "is not a text file"),
    ("broken.json", b"{", "broken.json"),
    ("list.json", b"[]", "list.json"),
]


@pytest.mark.parametrize(("file", "content", "reason"), BROKEN, ids=[file for file, _, _ in BROKEN])
def test_a_file_that_cannot_be_used_is_an_error_of_the_plan(
    tmp_path: Path, file: str, content: bytes | str | None, reason: str
) -> None:
    path = tmp_path / file
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content:
        path.mkdir()
    environment = settings(config=str(path)).environment(read_text)
    (problem,) = plan(load([]), environment).problems
    assert (problem.file, problem.path) == ("Pulumi.dev.yaml", f"modelShapes[{NAME}].config")
    assert (problem.is_error, problem.rule) == (True, RuleId.SETTINGS)
    assert file in problem.reason
    assert reason in problem.reason


def test_a_model_that_is_not_known() -> None:
    (problem,) = known(like="Qwen/Qwen3-8b").problems
    assert problem.path == f"modelShapes[{NAME}].like"
    assert "did you mean" in problem.reason
    assert "Qwen/Qwen3-8B" in problem.reason


def test_without_a_way_to_read_files_they_say_nothing() -> None:
    found = settings(config="config.json").environment().shapes
    assert (found.own, found.problems) == ({}, ())


@pytest.mark.parametrize(
    "shape",
    [
        {},
        {"heads": 8},
        {"layers": 32},
        {"layers": 32, "kvHeads": 8},
        {"config": "a", "like": "b"},
        {"like": "b", "layers": 1, "kvHeads": 1, "headDim": 1},
        {"weightsGib": 0},
        {"weightsGib": -1},
        {"weightsGib": float("nan")},
        {"weightsGib": float("inf")},
        {"parameters": 0},
        {"parameters": 10**16},
        {"weightsGib": 1, "unknown": 1},
        {"weightsGib": 1, "dtype": ""},
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused(shape: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ShapeSettings.model_validate(shape)


def test_a_name_that_is_empty_is_refused() -> None:
    with pytest.raises(ValidationError):
        FleetSettings.model_validate({"modelShapes": {"": {"weightsGib": 1}}})
