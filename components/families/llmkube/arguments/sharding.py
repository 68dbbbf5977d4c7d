"""How llama.cpp puts a model on GPUs: layers, split mode and shares (LLMKube spec 2.1, 4.3)."""

import math
import re

from ....contract.findings.ids import RuleId
from ....engines.settings import Setting
from ..serving import Serving
from ..types.model import GPUSpec
from .line import EXTRA, Line

MODEL = "spec.modelRef"
ALL_LAYERS = 99
"""More layers than models have: llama.cpp takes it as all of them."""

_MODES = {"row": "row", "tensor": "row", "none": "none"}
_RANGE = re.compile(r"(\d+)-(\d+)", re.ASCII)


def add_sharding(serving: Serving, line: Line) -> None:
    """Add what goes to which GPU; nothing without a GPU."""
    gpu = _gpu(serving)
    if serving.gpus < 1:
        if gpu.layers is not None or gpu.sharding is not None:
            what = "hardware.gpu.layers and sharding have no effect without a GPU"
            serving.findings.warn(
                MODEL, f"{_of(serving)}: {what}; set hardware.gpu.count, or remove them", RuleId.GPUS_ABSENT
            )
        return
    line.add(Setting.GPU_LAYERS, _layers(serving), EXTRA)
    if serving.gpus == 1:
        if gpu.sharding and gpu.sharding.layer_split:
            reason = "sharding.layerSplit has no effect with one GPU; increase hardware.gpu.count, or remove it"
            serving.findings.warn(MODEL, f"{_of(serving)}: {reason}", RuleId.FIELD_NO_EFFECT)
        return
    mode = _MODES.get(gpu.sharding.strategy, "layer") if gpu.sharding else "layer"
    line.add(Setting.SPLIT_MODE, mode, EXTRA)
    if mode != "none":
        line.add(Setting.TENSOR_SPLIT, ",".join(map(str, _shares(serving))), EXTRA)
    else:
        serving.findings.warn(
            MODEL,
            f"{_of(serving)}: sharding.strategy none uses only one of {serving.gpus} GPUs; use layer",
            RuleId.GPUS_UNUSED,
        )


def _layers(serving: Serving) -> int:
    """Return how many layers go to GPUs: 0 is none, unset and -1 are all of them."""
    layers = _gpu(serving).layers
    if layers == 0:
        serving.findings.warn(
            MODEL,
            f"{_of(serving)}: hardware.gpu.layers 0 puts no layer on the {serving.gpus} GPUs of the pod; set -1 for "
            "all layers, or request no GPU",
            RuleId.GPUS_UNUSED,
        )
    return ALL_LAYERS if layers is None or layers < 0 else layers


def _shares(serving: Serving) -> list[int]:
    """Return the share of each GPU: the sizes of ``layerSplit`` in lowest terms, else equal ones."""
    sharding = _gpu(serving).sharding
    entries = (sharding.layer_split if sharding else None) or []
    if not entries:
        return [1] * serving.gpus
    sizes = [_size(entry) for entry in entries]
    if len(sizes) != serving.gpus or not all(sizes):
        serving.findings.warn(
            MODEL,
            f"{_of(serving)}: sharding.layerSplit must have {serving.gpus} entries such as '0-19', one per GPU, "
            f"found {', '.join(map(repr, entries))}; until it is corrected, every GPU gets an equal share",
            RuleId.GPUS_UNEQUAL,
        )
        return [1] * serving.gpus
    return [size // math.gcd(*sizes) for size in sizes]


def _size(entry: str) -> int:
    """Return how many layers an entry ``start-end`` has; 0 where it is none."""
    match = _RANGE.fullmatch(entry)
    return max(int(match[2]) - int(match[1]) + 1, 0) if match else 0


def _gpu(serving: Serving) -> GPUSpec:
    hardware = serving.model.spec.hardware
    return (hardware.gpu if hardware else None) or GPUSpec()


def _of(serving: Serving) -> str:
    return f"Model {serving.model.metadata.name!r}"
