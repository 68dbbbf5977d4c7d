"""Samples of what is known of a model, beside a model that fits as it is."""

from typing import Any

from tests.stacks.every_key.sample import Sample

MODEL = "Qwen/Qwen2-7B-Instruct"
"""What the model of the base is; twice as much of anything would not fit its GPU."""
_OF_TWO = "meta-llama/Meta-Llama-3-8B-Instruct"
"""A model that is cut over two GPUs."""
_OPEN = "google/gemma-2-9b-it"
"""A model whose server takes the context that it was made for."""
_LAYERS: dict[str, Any] = {"layers": 28, "kvHeads": 4, "headDim": 128}
_MADE: dict[str, Any] = {"weightsGib": 14.2, "maxContext": 32768, **_LAYERS}


def _beside(**shape: Any) -> dict[str, Any]:
    return {"modelShapes": {MODEL: shape}}


def _without(key: str, **more: Any) -> dict[str, Any]:
    return _beside(**{name: value for name, value in {**_MADE, **more}.items() if name != key})


SHAPE_SAMPLES: dict[str, Sample] = {
    "modelShapes.*.config": Sample("tests/stacks/every_key/none.json", _beside(weightsGib=14.2), MODEL),
    "modelShapes.*.like": Sample("meta-llama/Llama-3.3-70B-Instruct", _beside(parameters=70 * 10**9), MODEL),
    "modelShapes.*.weightsGib": Sample(40, _without("weightsGib", parameters=7 * 10**9, dtype="bfloat16"), MODEL),
    "modelShapes.*.parameters": Sample(70 * 10**9, _beside(dtype="bfloat16", maxContext=4096, **_LAYERS), MODEL),
    "modelShapes.*.dtype": Sample("bfloat16", _beside(parameters=70 * 10**9, maxContext=4096, **_LAYERS), MODEL),
    "modelShapes.*.layers": Sample(2800, _without(""), MODEL),
    "modelShapes.*.kvHeads": Sample(400, _without(""), MODEL),
    "modelShapes.*.headDim": Sample(12800, _without(""), MODEL),
    "modelShapes.*.heads": Sample(
        7, {"modelShapes": {_OF_TWO: _MADE}, "models": ["stacks/models/llama-sglang.yaml"]}, _OF_TWO
    ),
    "modelShapes.*.maxContext": Sample(
        32_768_000,
        {"modelShapes": {_OPEN: _MADE}, "models": ["stacks/models/gemma-elastic.yaml"]},
        _OPEN,
    ),
}
