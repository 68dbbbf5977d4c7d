"""Reads the shape of a model from the header of a GGUF file (ggml-org/ggml, docs/gguf.md).

A file states its layers and widths, and its size is that of the weights. Only architectures whose layers all cache
the whole context are known one by one; for others, the cache is an upper bound.
"""

import struct
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any, BinaryIO

from .shapes import Layers, Shape

_MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
"""Formats of ``struct`` by the type of a value."""
_TEXT, _ARRAY = 8, 9
_MOST_KEYS, _MOST_TEXT, _MOST_ITEMS = 10_000, 2**24, 2**24
_TOKENS = "tokenizer.ggml.tokens"
_WHOLE = frozenset(
    {"llama", "qwen2", "qwen2moe", "qwen3", "qwen3moe", "qwen2vl", "mistral3", "granite", "granitemoe", "internlm2"}
    | {"olmo2", "olmoe", "phi2", "starcoder2", "baichuan", "command-r", "stablelm", "falcon", "bloom", "gpt2", "mpt"}
)
"""Architectures of llama.cpp whose layers all cache the whole context (src/llama-model.cpp, llama_hparams)."""


def read_gguf(stream: BinaryIO, name: str, size: int) -> Shape:
    """Return the shape of a model.

    Args:
        stream: The file, at its beginning.
        name: Name of the model, for messages and verdicts.
        size: Bytes of the file, or of all parts of a model that is split.

    Raises:
        ValueError: The file is not a GGUF file with a model; the message says why.
    """
    reader = _HeaderReader(stream, name)
    keys = reader.keys()
    architecture = str(keys.get("general.architecture") or "")
    if not architecture:
        raise ValueError(f"{name}: has no general.architecture, so that it is not a model")

    def number(key: str) -> int | None:
        value = keys.get(f"{architecture}.{key}")
        if isinstance(value, list):
            value = max(value, default=None)
        return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None

    layers, heads, hidden = number("block_count"), number("attention.head_count"), number("embedding_length")
    if layers is None or hidden is None:
        raise ValueError(f"{name}: does not state the layers of its architecture {architecture}")
    kv_heads = number("attention.head_count_kv") or heads or 0
    head = hidden // heads if heads else 0
    kind = Layers(layers, kv_heads, number("attention.key_length") or head, number("attention.value_length") or head)
    return Shape(
        name=name,
        weights_bytes=size,
        layers=(kind,) if kind.key_dim else (),
        heads=heads,
        max_context=number("context_length"),
        hidden=hidden,
        vocabulary=keys.get(_TOKENS) or number("vocab_size"),
        experts=number("expert_count") or 0,
        active_experts=number("expert_used_count") or 0,
        intermediate=number("expert_feed_forward_length") or number("feed_forward_length"),
        exact=architecture in _WHOLE,
        source=f"the header of {PurePath(name).name}",
    )


class _HeaderReader:
    """Reads the values of a header in order; arrays of texts are counted, not kept."""

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self._stream = stream
        self._name = name

    def keys(self) -> Mapping[str, Any]:
        if self._bytes(4) != _MAGIC:
            raise ValueError(f"{self._name}: is not a GGUF file")
        version = self._scalar("I")
        if version not in _VERSIONS:
            raise ValueError(f"{self._name}: is a GGUF file of version {version}, and must be of version 2 or 3")
        self._scalar("Q")  # tensors
        count = self._scalar("Q")
        if count > _MOST_KEYS:
            raise ValueError(f"{self._name}: states {count:,} keys, which is more than a header has")
        return {self._text(): self._value(self._scalar("I")) for _ in range(count)}

    def _value(self, kind: int) -> Any:  # noqa: ANN401  as the file has it
        if kind in _SCALARS:
            return self._scalar(_SCALARS[kind])
        if kind == _TEXT:
            return self._text()
        if kind != _ARRAY:
            raise ValueError(f"{self._name}: has a value of the unknown type {kind}")
        item, count = self._scalar("I"), self._scalar("Q")
        if count > _MOST_ITEMS:
            raise ValueError(f"{self._name}: has an array of {count:,} values")
        if item in _SCALARS:
            code = _SCALARS[item]
            return list(struct.unpack(f"<{count}{code}", self._bytes(struct.calcsize(f"<{count}{code}"))))
        if item != _TEXT:
            raise ValueError(f"{self._name}: has an array of the unknown type {item}")
        for _ in range(count):
            self._text()
        return count

    def _text(self) -> str:
        length = self._scalar("Q")
        if length > _MOST_TEXT:
            raise ValueError(f"{self._name}: has a text of {length:,} bytes")
        return self._bytes(length).decode("utf-8", "replace")

    def _scalar(self, code: str) -> Any:  # noqa: ANN401  a number or a boolean
        return struct.unpack(f"<{code}", self._bytes(struct.calcsize(f"<{code}")))[0]

    def _bytes(self, size: int) -> bytes:
        content = self._stream.read(size)
        if len(content) < size:
            raise ValueError(f"{self._name}: ends within its header")
        return content
