"""What the container of an InferenceService is started with: the runtime's command, arguments and environment."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from ....fleet.objects import Object
from ..serving import Serving
from .llamacpp import llamacpp_args
from .personaplex import COMMAND, personaplex_args, personaplex_env
from .tgi import tgi_args, tgi_env
from .unread import report_unread
from .vllm import vllm_args, vllm_env


@dataclass(frozen=True, slots=True)
class StartCommand:
    """How a runtime is started.

    Attributes:
        command: Command of the container; None leaves it to the image.
        args: Arguments, each flag and each value an item of its own.
        env: What the runtime itself sets, as wire objects; ``spec.env`` follows it.
    """

    command: list[str] | None = None
    args: list[str] = field(default_factory=list)
    env: list[Object] = field(default_factory=list)


def arguments(serving: Serving) -> StartCommand:
    """Return what the container is started with; what is wrong is recorded in the findings."""
    started = _RUNTIMES[serving.runtime](serving)
    report_unread(serving)
    own = serving.service.spec.command
    return replace(started, command=list(own)) if own else started


def _llamacpp(serving: Serving) -> StartCommand:
    return StartCommand(args=llamacpp_args(serving))


def _vllm(serving: Serving) -> StartCommand:
    return StartCommand(args=vllm_args(serving), env=vllm_env(serving))


def _tgi(serving: Serving) -> StartCommand:
    return StartCommand(args=tgi_args(serving), env=tgi_env(serving))


def _personaplex(serving: Serving) -> StartCommand:
    return StartCommand(list(COMMAND), personaplex_args(serving), personaplex_env(serving))


def _generic(serving: Serving) -> StartCommand:
    """The user's own server: nothing is generated (LLMKube spec 2.5)."""
    return StartCommand(args=list(serving.service.spec.args or ()))


_RUNTIMES: Mapping[str, Callable[[Serving], StartCommand]] = {
    "llamacpp": _llamacpp,
    "vllm": _vllm,
    "tgi": _tgi,
    "personaplex": _personaplex,
    "generic": _generic,
}
