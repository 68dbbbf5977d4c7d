"""What the container of an InferenceService is started with: the runtime's command, arguments and environment."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ....engines.command_line import CommandLine
from ....fleet.objects import Object
from ..serving import Serving
from .llamacpp import llamacpp_line
from .personaplex import personaplex_env, personaplex_line
from .tgi import tgi_env, tgi_line
from .unread import report_unread
from .vllm import vllm_env, vllm_line


@dataclass(frozen=True, slots=True)
class StartCommand:
    """How a runtime is started.

    Attributes:
        line: Command and arguments, each flag and each value an item of its own; without a command it is the image's.
        env: What the runtime itself sets, as wire objects; ``spec.env`` follows it.
    """

    line: CommandLine
    env: list[Object] = field(default_factory=list)


def arguments(serving: Serving) -> StartCommand:
    """Return what the container is started with; what is wrong is recorded in the findings."""
    started = _RUNTIMES[serving.runtime](serving)
    report_unread(serving)
    return started


def _llamacpp(serving: Serving) -> StartCommand:
    return StartCommand(llamacpp_line(serving))


def _vllm(serving: Serving) -> StartCommand:
    return StartCommand(vllm_line(serving), vllm_env(serving))


def _tgi(serving: Serving) -> StartCommand:
    return StartCommand(tgi_line(serving), tgi_env(serving))


def _personaplex(serving: Serving) -> StartCommand:
    return StartCommand(personaplex_line(serving), personaplex_env(serving))


def _generic(serving: Serving) -> StartCommand:
    """The user's own server: nothing is generated (LLMKube spec 2.5)."""
    spec = serving.service.spec
    return StartCommand(CommandLine(serving.engine, serving.tag, spec.args or (), spec.command or ()))


_RUNTIMES: Mapping[str, Callable[[Serving], StartCommand]] = {
    "llamacpp": _llamacpp,
    "vllm": _vllm,
    "tgi": _tgi,
    "personaplex": _personaplex,
    "generic": _generic,
}
