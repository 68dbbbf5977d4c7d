"""What engines do with memory, by version and accelerator."""

from decimal import Decimal

import pytest

from components.engines.memory.budget import EngineMemory
from components.engines.memory.reserve import ServerTraits
from components.engines.memory.rows import Device, memory_of
from components.engines.registry import engines

MIB = 2**20
A10G = Device("A10G", 22888 * MIB)
H100 = Device("H100", 81920 * MIB)
A100 = Device("A100", 81920 * MIB)


def budget(engine: str, tag: str, device: Device, batch_tokens: int | None = None) -> EngineMemory:
    found = memory_of(engines()[engine], tag, device, ServerTraits(batch_tokens=batch_tokens))
    assert found
    return found


@pytest.mark.parametrize(
    ("tag", "device", "share", "batch_tokens", "sequences"),
    [
        # Pull request 38284 raised the share "to 0.92 by default since v0.21.0".
        ("v0.20.0", A10G, "0.9", 2048, 256),
        ("v0.21.0", A10G, "0.92", 2048, 256),
        ("", A10G, "0.92", 2048, 256),
        # EngineArgs.get_batch_defaults: 70 GiB or more, and not an A100.
        ("v0.20.0", H100, "0.9", 8192, 1024),
        ("v0.20.0", A100, "0.9", 2048, 256),
        # The engine before V1 profiled the whole context.
        ("v0.7.3", H100, "0.9", None, 256),
    ],
)
def test_vllm_by_version_and_accelerator(
    tag: str, device: Device, share: str, batch_tokens: int | None, sequences: int
) -> None:
    found = budget("vllm", tag, device)
    assert (found.share, found.batch_tokens, found.sequences) == (Decimal(share), batch_tokens, sequences)


@pytest.mark.parametrize(
    ("tag", "chunk"),
    # On by default for contexts of more than 32k (EngineArgs), with 2,048 tokens since pull request 10544.
    [("v0.4.3", 0), ("v0.6.0", 512), ("v0.7.3", 2048), ("v0.8.2", 0)],
)
def test_vllm_before_v1_cuts_long_requests(tag: str, chunk: int) -> None:
    found = budget("vllm", tag, A10G)
    assert (found.chunks_above, found.chunk) == (32768 if chunk else None, chunk)


def test_vllm_keeps_a_state_for_each_request_since_pull_request_38270() -> None:
    assert not budget("vllm", "v0.18.0", H100).reserves_states
    assert budget("vllm", "v0.20.0", H100).reserves_states


@pytest.mark.parametrize(
    ("tag", "device", "batch_tokens", "reserved"),
    [
        # 512 + 1.5 x chunk + ranks / 8 x 1024 + 2 x requests of the largest graph.
        ("v0.5.4", A10G, None, 512 + 1.5 * 2048 + 128 + 2 * 24),
        # Graphs of prefill since 0.5.10: 8 for each of 42, 50 and 58 sizes up to 2,048, 4,096 and 8,192 tokens.
        ("v0.5.9", A10G, None, 512 + 1.5 * 2048 + 128 + 2 * 24),
        ("v0.5.12", A10G, None, 512 + 1.5 * 2048 + 128 + 2 * 24 + 8 * 42),
        ("v0.5.19", A10G, None, 512 + 1.5 * 2048 + 128 + 2 * 24 + 8 * 42),
        ("v0.5.20", A10G, None, 512 + 1.5 * 4096 + 128 + 2 * 48 + 8 * 50),
        ("v0.5.23", A10G, None, 512 + 1.5 * 4096 + 128 + 2 * 48 + 8 * 50),
        ("v0.5.15", H100, None, 512 + 1.5 * 8192 + 128 + 2 * 256 + 8 * 58),
        # 0.4.8 to 0.5.2: (2.8 + ranks / 10), (9.5 + ranks / 2) or (12 + ranks / 2) GiB, and 32 GiB.
        ("v0.4.8", A10G, None, 1024 * 2.9),
        ("v0.5.2", Device("A10G", 22888 * MIB, 4), None, 1024 * 3.2),
        ("v0.5.2", Device("H100", 81920 * MIB, 8), None, 1024 * 13.5),
        ("v0.4.10", Device("H200", 144384 * MIB, 8), None, 1024 * 16),
        ("v0.5.1", Device("B200", 183359 * MIB, 8), None, 1024 * 32),
        ("v0.5.4", Device("A10G", 22888 * MIB, 4), None, 512 + 1.5 * 2048 + 512 + 2 * 80),
        ("v0.5.4", Device("L40S", 45776 * MIB), None, 512 + 1.5 * 4096 + 128 + 2 * 32),
        ("v0.5.4", H100, None, 512 + 1.5 * 8192 + 128 + 2 * 256),
        ("v0.5.4", H100, 16384, 512 + 1.5 * 16384 + 128 + 2 * 256),
        # At least 10 GiB above 60 GiB.
        ("v0.5.4", H100, 2048, 10240),
        ("v0.5.4", Device("B200", 183359 * MIB, 8), None, 512 + 1.5 * 16384 + 1024 + 2 * 512),
        # A T4.
        ("v0.5.4", Device("T4", 16384 * MIB), None, 512 + 1.5 * 2048 + 128 + 2 * 8),
    ],
)
def test_sglang_leaves_room_for_what_it_computes(
    tag: str, device: Device, batch_tokens: int | None, reserved: float
) -> None:
    share = budget("sglang", tag, device, batch_tokens).share
    memory = device.memory / MIB
    assert share is not None
    assert float(share) == pytest.approx((memory - reserved) / memory, abs=0.0005)


@pytest.mark.parametrize(
    ("tag", "used", "cache", "tokens", "of_all"),
    [
        # What is left free, in flash_causal_lm.py and globals.py at the tags on both sides of each change; tokens of
        # a prefill in launcher/src/main.rs: 4095 of an input and 50 from 2.0.0 to 2.4.0.
        ("1.4.0", "1", "1", 4096, True),
        ("1.4.1", "1", "0.95", 4096, True),
        ("2.3.1", "1", "0.95", 4145, True),
        ("2.4.0", "1", "0.9", 4145, True),
        ("2.4.1", "1", "0.9", 4096, True),
        ("3.0.2", "0.95", "1", 4096, False),
        ("3.1.0", "0.93", "1", 4096, False),
        ("3.2.3", "0.93", "1", 4096, False),
        ("3.3.0", "0.9", "1", 4096, False),
        ("", "0.9", "1", 4096, False),
    ],
)
def test_tgi_by_version(tag: str, used: str, cache: str, tokens: int, of_all: bool) -> None:
    found = budget("tgi", tag, A10G)
    assert (found.share, found.share_used, found.cache_share) == (Decimal(1), Decimal(used), Decimal(cache))
    assert (found.batch_tokens, found.logits_of_all) == (tokens, of_all)


def test_tensorrt_llm_computes_what_its_server_does_by_default() -> None:
    # BuildConfig: max_num_tokens 8192, max_batch_size 2048; KvCacheConfig: free_gpu_memory_fraction 0.9, 32 tokens.
    found = budget("tensorrt-llm", "", H100)
    assert (found.batch_tokens, found.sequences) == (8192, 2048)
    assert (found.cache_share, found.block) == (Decimal("0.9"), 32)


def test_every_table_is_read() -> None:
    known = {name for name, engine in engines().items() if memory_of(engine, "", A10G)}
    assert known == {"vllm", "sglang", "llamacpp", "ollama", "tgi", "tensorrt-llm"}


def test_an_engine_without_a_table_is_not_guessed() -> None:
    assert memory_of(engines()["personaplex"], "", A10G) is None


def test_vllm_quantizes_layer_by_layer_since_pull_request_31914() -> None:
    assert budget("vllm", "v0.14.0", H100).loads_whole
    assert not budget("vllm", "v0.15.0", H100).loads_whole
