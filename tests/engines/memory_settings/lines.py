"""Command lines of each engine, and what it does unless it is told."""

from decimal import Decimal

from components.engines.command_line import CommandLine
from components.engines.memory_settings.layout import ModelLayout
from components.engines.memory_settings.reader import MemorySettings, RequestLimits, memory_settings_of
from components.engines.memory_settings.settings import Variables

VLLM, SGLANG, TGI = ("vllm", "v0.20.0"), ("sglang", "v0.5.4-cu129-amd64"), ("tgi", "2.4.0")
LLAMA, OLD_LLAMA, NEW_LLAMA = (
    ("llamacpp", "server-cuda-b6500"),
    ("llamacpp", "server-cuda-b5000"),
    ("llamacpp", "server-cuda-b7500"),
)
TWO = Decimal(2)


def named(each: object) -> str:
    """The id of a parameter."""
    return "-".join(map(str, each)) if isinstance(each, list | tuple) else str(each)


def asked(engine: tuple[str, str], *args: str, env: Variables = (), more: bool = False) -> MemorySettings | str:
    model = () if engine == TGI and env else {"sglang": ("--model-path", "m")}.get(engine[0], ("--model", "m"))
    if engine[0] == "tgi":
        model = () if env else ("--model-id", "m")
    return memory_settings_of(CommandLine(*engine, (*model, *args)), env, more=more)


def usual(engine: tuple[str, str]) -> MemorySettings:
    """What a server of an engine does unless it is told."""
    return {
        VLLM: MemorySettings("m"),
        SGLANG: MemorySettings("m"),
        TGI: MemorySettings("m", limits=RequestLimits(4096), layout=ModelLayout(tensor=None)),
        LLAMA: MemorySettings("m", limits=RequestLimits(4096, sequences=1), layout=ModelLayout(pipeline=None)),
    }[engine]
