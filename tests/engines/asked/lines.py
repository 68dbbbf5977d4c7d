"""Command lines of each engine, and what it does unless it is told."""

from decimal import Decimal

from components.engines.asked.division import Division
from components.engines.asked.memory import AskedMemory, AskedRoom, asked_of
from components.engines.asked.settings import Variables
from components.engines.command_line import CommandLine

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


def asked(engine: tuple[str, str], *args: str, env: Variables = (), more: bool = False) -> AskedMemory | str:
    model = () if engine == TGI and env else {"sglang": ("--model-path", "m")}.get(engine[0], ("--model", "m"))
    if engine[0] == "tgi":
        model = () if env else ("--model-id", "m")
    return asked_of(CommandLine(*engine, (*model, *args)), env, more=more)


def usual(engine: tuple[str, str]) -> AskedMemory:
    """What a server of an engine does unless it is told."""
    return {
        VLLM: AskedMemory("m"),
        SGLANG: AskedMemory("m"),
        TGI: AskedMemory("m", room=AskedRoom(4096), division=Division(tensor=None)),
        LLAMA: AskedMemory("m", room=AskedRoom(4096, sequences=1), division=Division(pipeline=None)),
    }[engine]
