"""Each field for Text Generation Inference (LLMKube spec 2.3, 8)."""

import pytest

from tests.families.llmkube.api.samples import Document
from tests.families.llmkube.arguments.support import TGI, start, tgi, tgi_own


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({}, ""),
        ({"quantize": "gptq"}, "--quantize gptq"),
        ({"dtype": "float16"}, "--dtype float16"),
        ({"quantize": "bitsandbytes", "dtype": "float16"}, "--quantize bitsandbytes --dtype float16"),
        ({"maxInputLength": 7}, "--max-input-tokens 7"),
        ({"maxTotalTokens": 8}, "--max-total-tokens 8"),
    ],
)
def test_each_field_of_tgi(config: Document, expected: str) -> None:
    started = tgi(config)
    assert tgi_own(started) == expected.split()
    assert not started.problems


@pytest.mark.parametrize(
    ("tag", "flag", "token"),
    [
        ("latest", "--max-input-tokens", "HF_TOKEN"),
        ("3.3.7", "--max-input-tokens", "HF_TOKEN"),
        ("2.1.0", "--max-input-tokens", "HF_TOKEN"),
        ("2.0.4", "--max-input-tokens", "HUGGING_FACE_HUB_TOKEN"),
        ("1.4.5", "--max-input-length", "HUGGING_FACE_HUB_TOKEN"),
    ],
)
def test_names_that_tgi_changed(tag: str, flag: str, token: str) -> None:
    config = {"maxInputLength": 9, "hfTokenSecretRef": {"name": "hf", "key": "k"}}
    started = tgi(config, image=f"{TGI}{tag}")
    assert tgi_own(started) == [flag, "9"]
    assert started.result.env == [{"name": token, "valueFrom": {"secretKeyRef": {"name": "hf", "key": "k"}}}]
    assert not started.problems


@pytest.mark.parametrize("quantize", ["gptq", "awq", "eetq"])
def test_dtype_beside_a_quantization_that_has_its_own(quantize: str) -> None:
    assert quantize in tgi({"quantize": quantize, "dtype": "float16"}).errors["spec.tgiConfig.dtype"]


@pytest.mark.parametrize(
    ("config", "paths"),
    [
        ({"maxInputLength": 9, "maxTotalTokens": 10}, set()),
        ({"maxInputLength": 10, "maxTotalTokens": 10}, {"spec.tgiConfig.maxInputLength"}),
        ({"maxInputLength": 1, "maxTotalTokens": 2}, set()),
        ({"maxInputLength": 0}, {"spec.tgiConfig.maxInputLength"}),
        ({"maxTotalTokens": 0}, {"spec.tgiConfig.maxTotalTokens"}),
        ({"maxTotalTokens": -1}, {"spec.tgiConfig.maxTotalTokens"}),
    ],
)
def test_lengths_of_tgi(config: Document, paths: set[str]) -> None:
    assert set(tgi(config).errors) == paths


def test_tgi_takes_a_flag_once() -> None:
    started = tgi({"maxInputLength": 9}, spec={"extraArgs": ["--max-input-length", "8"]})
    assert set(started.errors) == {"spec.extraArgs[0]"}
    again = tgi({"maxInputLength": 9}, spec={"extraArgs": ["--max-input-tokens", "8"]})
    assert "once" in again.errors["spec.extraArgs[0]"]
    assert not tgi({"maxTotalTokens": 9}, spec={"extraArgs": ["--max-input-tokens", "8"]}).problems


@pytest.mark.parametrize(
    ("extra", "shards"), [([], True), (["--num-shard", "1"], False), (["--sharded=false"], False)]
)
def test_shards_of_tgi(extra: list[str], shards: bool) -> None:
    started = tgi(gpus=2, spec={"extraArgs": extra})
    assert tgi_own(started) == ([*(["--num-shard", "2"] if shards else []), *extra])
    assert not started.problems


def test_tgi_reads_the_path_that_is_there() -> None:
    assert tgi(path="/model-source/dir").args[:2] == ["--model-id", "/model-source/dir"]


@pytest.mark.parametrize("source", ["file:///baked/model", "/baked/model"])
def test_tgi_takes_a_path_in_its_image(source: str) -> None:
    """Deviation: upstream hands it the address of a file, which it takes for a repository."""
    started = start("tgi", source=source, gpus=1)
    assert started.args[:2] == ["--model-id", "/baked/model"]
    assert not started.problems


def test_tgi_loads_no_address() -> None:
    assert "cannot load a URL" in start("tgi", source="https://example.com/m", gpus=1).errors["spec.modelRef"]
