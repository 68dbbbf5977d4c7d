"""The attention backends that vLLM refuses, from ``vllm/v1/attention/backends`` of its releases."""

from decimal import Decimal

import pytest

from components.engines.backends import AttentionBackend, chosen_backend, refused_attention
from components.engines.command_line import CommandLine

GPT_OSS, V3, V32, QWEN = "GptOssForCausalLM", "DeepseekV3ForCausalLM", "DeepseekV32ForCausalLM", "Qwen3ForCausalLM"
VARIABLE = "VLLM_ATTENTION_BACKEND"


def line(tag: str, *args: str) -> CommandLine:
    return CommandLine("vllm", tag, ("some/model", *args))


@pytest.mark.parametrize(
    ("tag", "backend", "architecture", "capability", "kind"),
    [
        ("v0.11.0", "FLASHINFER", GPT_OSS, "8.0", "attention sinks"),
        ("v0.11.0", "FLASHINFER", GPT_OSS, "10.0", ""),
        ("v0.11.0", "FLASHINFER", QWEN, "8.0", ""),
        ("v0.10.2", "XFORMERS", GPT_OSS, "9.0", "attention sinks"),
        ("v0.11.0", "TRITON_ATTN", GPT_OSS, "8.0", ""),
        ("v0.11.0", "FLASH_ATTN", GPT_OSS, "8.0", "attention sinks"),
        ("v0.11.0", "FLASH_ATTN", GPT_OSS, "9.0", ""),
        ("v0.33.0", "FLASH_ATTN", GPT_OSS, "10.0", ""),
        ("v0.13.0", "TRITON_MLA", V32, "9.0", "sparse attention"),
        ("v0.13.0", "TRITON_MLA", V3, "9.0", ""),
        # Before 0.12 the choice is ignored for sparse attention.
        ("v0.11.0", "TRITON_MLA", V32, "9.0", ""),
        ("v0.13.0", "CUTLASS_MLA", V3, "9.0", "latent attention"),
        ("v0.13.0", "CUTLASS_MLA", V3, "10.0", ""),
        ("2024-build@", "FLASHINFER", GPT_OSS, "8.0", ""),
    ],
)
def test_what_a_backend_does_not_compute(
    tag: str, backend: str, architecture: str, capability: str, kind: str
) -> None:
    assert refused_attention(line(tag), backend, architecture, Decimal(capability)) == kind


def test_the_flag_comes_first_and_the_variable_ends_with_its_release() -> None:
    variables = {VARIABLE: "flashinfer"}
    flag = line("v0.13.0", "--attention-backend", "TRITON_ATTN")
    assert chosen_backend(flag, variables) == AttentionBackend("TRITON_ATTN")
    assert chosen_backend(line("v0.13.0"), variables) == AttentionBackend("FLASHINFER", VARIABLE)
    assert chosen_backend(line("v0.20.0"), variables) is None
    assert chosen_backend(line("v0.13.0"), {}) is None
    assert chosen_backend(CommandLine("sglang", "v0.5.4", ()), variables) is None
