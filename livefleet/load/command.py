"""The command ``load`` and its options."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from toolkit.errors import UserError
from toolkit.printing import Format

from .arrivals import Arrivals, Lengths

if TYPE_CHECKING:
    from .runner import Load

_MOST_USERS = 10_000

Url = Annotated[
    str,
    typer.Option(
        help="Address of the API, such as http://127.0.0.1:8000/v1. Without it, --model is one of the stack that the "
        "live fleet plays.",
        metavar="URL",
    ),
]
Model = Annotated[str, typer.Option(help="Model to ask for; of the stack, also its key in the outputs.")]
Stack = Annotated[str, typer.Option(help="Stack whose model it is.")]
Cwd = Annotated[Path, typer.Option(help="Project folder.", metavar="DIR")]
Door = Annotated[
    bool, typer.Option("--door", help="Through the gateway of the live fleet, with a key that it takes.")
]
Follow = Annotated[
    str, typer.Option(help="How long to go on watching the live fleet after the last request, such as 5m.")
]
Rate = Annotated[
    str, typer.Option(metavar="N[..N]", help="Requests a second: the same all the time, or from one to the other.")
]
Duration = Annotated[str, typer.Option(help="How long, such as 30s, 5m or 1h.")]
Kind = Annotated[Arrivals, typer.Option(help="How requests follow one another.")]
Burst = Annotated[int, typer.Option(min=1, max=10_000, help="Requests that come at once; the rate stays the same.")]
UserCount = Annotated[
    int,
    typer.Option("--users", min=0, max=_MOST_USERS, help="Users who wait for an answer before they ask again."),
]
Think = Annotated[str, typer.Option(help="What a user waits between an answer and the next request.")]
Trace = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Requests as they came: CSV or JSON lines with time, input_tokens and output_tokens; traces of Azure, "
        "Mooncake and BurstGPT as they are published.",
    ),
]
InputTokens = Annotated[str, typer.Option(metavar="N[..N]", help="Tokens of a request, about.")]
OutputTokens = Annotated[str, typer.Option(metavar="N[..N]", help="Tokens of an answer, at most.")]
Whole = Annotated[bool, typer.Option("--whole", help="Ask for answers of the whole length (vLLM and SGLang).")]
Completions = Annotated[bool, typer.Option("--completions", help="Ask for completions of a text, not for chats.")]
KeyEnv = Annotated[str, typer.Option(metavar="NAME", help="Variable of the environment with the key for the API.")]
Timeout = Annotated[str, typer.Option(help="When a request is given up.")]
Seed = Annotated[int, typer.Option(help="The same seed sends the same requests at the same times.")]
Saved = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="FILE", help="Write the result to a file as well: .html with plots, or .json. May be repeated."
    ),
]
Output = Annotated[Format, typer.Option(help="text, or json for other programs.")]


_MOST_REQUESTS = 5_000_000


@dataclass(frozen=True, slots=True)
class _Shape:
    """What is sent, as far as it does not come from a trace."""

    rate: str
    duration: str
    arrivals: Arrivals
    burst: int
    users: int
    think: str
    lengths: Lengths
    seed: int


def register(app: typer.Typer) -> None:
    """Add the ``load`` command."""
    app.command()(load)


def load(
    *,
    model: Model,
    url: Url = "",
    stack: Stack = "local",
    cwd: Cwd = Path(),
    door: Door = False,
    follow: Follow = "",
    rate: Rate = "",
    duration: Duration = "1m",
    arrivals: Kind = Arrivals.POISSON,
    burst: Burst = 1,
    users: UserCount = 0,
    think: Think = "",
    trace: Trace = None,
    input_tokens: InputTokens = "200",
    output_tokens: OutputTokens = "100",
    whole: Whole = False,
    completions: Completions = False,
    key_env: KeyEnv = "",
    timeout: Timeout = "5m",
    seed: Seed = 0,
    save: Saved = None,
    output: Output = Format.TEXT,
) -> None:
    """Put load on a model, and show what clients see: rates, time to the first token, errors.

    Works against any endpoint that speaks OpenAI's API (--url), and against the models of the live fleet, with the
    queues, replicas, nodes and dollars of the simulated fleet. Ctrl-C ends it early.
    """
    from .session import LoadTargetOptions, check_files, loaded, write

    check_files(save or ())
    lengths = _lengths(input_tokens, output_tokens)
    wanted = _wanted(_Shape(rate, duration, arrivals, burst, users, think, lengths, seed), trace)
    asked = LoadTargetOptions(model, url, stack, cwd, door, follow, not completions, whole, timeout, key_env)
    write(found := loaded(asked, wanted), save or (), output)
    if not found.clients.answered:
        raise typer.Exit(1)


def _lengths(of_input: str, of_output: str) -> Lengths:
    from . import inputs

    return Lengths(inputs.tokens("--input-tokens", of_input), inputs.tokens("--output-tokens", of_output))


def _wanted(shape: _Shape, trace: Path | None) -> "Load":
    """Return the load, which is said in exactly one way."""
    from . import inputs
    from .arrivals import planned
    from .runner import Users
    from .trace import read_trace

    ways = {"--rate": bool(shape.rate), "--users": bool(shape.users), "--trace": trace is not None}
    given = [name for name, there in ways.items() if there]
    if len(given) != 1:
        found = " and ".join(given) or "none of them"
        raise UserError(f"pass one of --rate, --users and --trace, found {found}", 2)
    if shape.think and not shape.users:
        raise UserError("--think: is what users wait; pass --users too", 2)
    if trace is not None:
        return read_trace(trace)
    seconds = inputs.duration("--duration", shape.duration)
    if shape.users:
        think = inputs.duration("--think", shape.think) if shape.think else 0.0
        return Users(shape.users, think, seconds, shape.lengths, shape.seed)
    rate = inputs.rate(shape.rate)
    expected = (rate.first + rate.last) / 2 * seconds
    if expected > _MOST_REQUESTS:
        raise UserError(f"--rate: {expected:,.0f} requests are more than {_MOST_REQUESTS:,}; lower it", 2)
    return planned(rate, seconds, shape.arrivals, shape.burst, shape.lengths, shape.seed)
