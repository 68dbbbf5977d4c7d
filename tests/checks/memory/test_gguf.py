"""Headers of GGUF files: of a model, cut off, and of any bytes."""

import io
import struct
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.checks.memory.gguf import read_gguf
from components.checks.memory.shapes import Layers

LLAMA = {
    "general.architecture": "llama",
    "general.name": "Llama 3.1 8B",
    "llama.block_count": 32,
    "llama.context_length": 131072,
    "llama.embedding_length": 4096,
    "llama.feed_forward_length": 14336,
    "llama.attention.head_count": 32,
    "llama.attention.head_count_kv": 8,
    "llama.rope.freq_base": 500000.0,
    "tokenizer.ggml.add_bos_token": True,
    "tokenizer.ggml.token_type": [1, 3, 1],
    "tokenizer.ggml.tokens": ["<s>", "a", "b", "c"],
}
"""Keys of the format (ggml-org/ggml, docs/gguf.md), of the model that its publisher's config.json describes."""
SIZE = 4_920_739_232


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value.encode())) + value.encode()


def value(of: Any) -> bytes:
    match of:
        case bool():
            return struct.pack("<I?", 7, of)
        case int():
            return struct.pack("<II", 4, of)
        case float():
            return struct.pack("<If", 6, of)
        case str():
            return struct.pack("<I", 8) + text(of)
        case [str(), *_]:
            return struct.pack("<IIQ", 9, 8, len(of)) + b"".join(map(text, of))
        case _:
            return struct.pack("<IIQ", 9, 5, len(of)) + struct.pack(f"<{len(of)}i", *of)


def header(keys: Mapping[str, Any] = LLAMA, version: int = 3) -> bytes:
    start = b"GGUF" + struct.pack("<IQQ", version, 291, len(keys))
    return start + b"".join(text(key) + value(of) for key, of in keys.items())


def read(data: bytes) -> Any:
    return read_gguf(io.BytesIO(data), "model.gguf", SIZE)


@pytest.mark.parametrize("version", [2, 3])
def test_a_header_describes_the_model(version: int) -> None:
    shape = read(header(version=version) + b"tensors")
    assert shape.weights_bytes == SIZE
    assert shape.layers == (Layers(32, 8, 128, 128),)
    assert (shape.heads, shape.hidden, shape.vocabulary, shape.max_context) == (32, 4096, 4, 131072)
    assert shape.exact


def test_widths_of_keys_may_be_stated_and_heads_differ_by_layer() -> None:
    keys = {
        **LLAMA,
        "llama.attention.head_count_kv": [8, 4, 8],
        "llama.attention.key_length": 192,
        "llama.attention.value_length": 64,
    }
    assert read(header(keys)).layers == (Layers(32, 8, 192, 64),)


def test_the_cache_of_other_architectures_is_an_upper_bound() -> None:
    keys = {key.replace("llama.", "gemma3."): of for key, of in LLAMA.items()} | {"general.architecture": "gemma3"}
    assert not read(header(keys)).exact


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "ends within its header"),
        (b"PK\x03\x04 a zip file", "is not a GGUF file"),
        (header(version=1), "version 1"),
        (header({"llama.block_count": 32}), "has no general.architecture"),
        (header({"general.architecture": "llama"}), "does not state the layers of its architecture llama"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 10**9), "states 1,000,000,000 keys"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + text("k") + struct.pack("<I", 99), "unknown type 99"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q", 2**60), "has a text of"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + text("k") + struct.pack("<IIQ", 9, 4, 2**60), "has an array of"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + text("k") + struct.pack("<IIQ", 9, 9, 1), "array of the unknown"),
    ],
)
def test_other_files_are_refused_with_the_reason(data: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read(data)


@given(st.integers(0, len(header()) - 1))
def test_a_header_that_is_cut_off_is_refused(length: int) -> None:
    with pytest.raises(ValueError, match=r"model\.gguf: "):
        read(header()[:length])


@given(st.binary(max_size=200))
def test_any_bytes_end_with_a_message(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"model\.gguf: "):
        read(b"GGUF" + struct.pack("<I", 3) + data)
