"""The context of a model whose positions are scaled by arguments (RoPE scaling)."""

from collections.abc import Mapping
from typing import Any

from ..command_line import CommandLine
from ..flags.values import json_object
from ..settings import Setting

_SCALING = ("rope_scaling", "rope_parameters")
_POSITIONS = frozenset({*_SCALING, "rope_theta", "max_position_embeddings"})
"""Keys of a model's configuration that change its positions, and nothing that takes memory."""
_YARN = "yarn"
_SCALED = ("linear", "dynamic", _YARN)


def overrides_positions_only(text: str) -> bool:
    """Return whether a JSON that overrides a model's configuration changes nothing but its positions."""
    document = json_object(text)
    return bool(document) and set(document or ()) <= _POSITIONS


def is_scaled(line: CommandLine) -> bool:
    """Return whether a line that the engine parses may change the positions of its model."""
    return any(any(line.json_uses(setting)) for setting in (Setting.ROPE_SCALING, Setting.MODEL_CONFIG))


def scaled_context(line: CommandLine, context: int) -> int | None:
    """Return the context of a model with the scaling of a command line; None if it is unknown.

    Source: ``_get_and_verify_max_len`` in vllm/config.py, later vllm/config/model.py, of vLLM 0.7 to 0.33: the factor
    multiplies the context, with YaRN the original one.

    Args:
        line: The command line that the engine parses, which scales positions.
        context: The context of the model's own configuration.
    """
    document: Mapping[str, Any] = line.document_of(Setting.MODEL_CONFIG) or {}
    scaling = line.document_of(Setting.ROPE_SCALING)
    scaling = scaling or next((document[key] for key in _SCALING if isinstance(document.get(key), Mapping)), None)
    if not scaling:
        return None
    kind, factor = scaling.get("rope_type", scaling.get("type")), scaling.get("factor")
    base = document.get("max_position_embeddings", context)
    if kind == _YARN:
        base = scaling.get("original_max_position_embeddings")
    if kind not in _SCALED or not isinstance(base, int) or not isinstance(factor, int | float):
        return None
    return int(base * factor)
