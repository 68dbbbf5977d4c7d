"""The command."""

import itertools
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import WorkbenchError
from ..printing import Format
from .arrivals import Arrivals, Lengths

if TYPE_CHECKING:
    from .client import LoadTarget
    from .outcomes import Tally
    from .runner import Load
    from .summary import LoadSummary

_FORMS = (".html", ".json")
_SAID_EVERY = 10.0
_MOST_USERS = 10_000
_MOST_REQUESTS = 5_000_000

Url = Annotated[str, typer.Option(help="Address of the API, such as http://127.0.0.1:8000/v1.", metavar="URL")]
Model = Annotated[str, typer.Option(help="Model to ask for.")]
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
    url: Url,
    model: Model,
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

    Works against any endpoint that speaks OpenAI's API. Ctrl-C ends it early, with what was seen so far.
    """
    from . import inputs
    from .client import LoadTarget
    from .runner import run
    from .summary import summary

    _check_files(save or ())
    lengths = Lengths(inputs.tokens("--input-tokens", input_tokens), inputs.tokens("--output-tokens", output_tokens))
    wanted = _wanted(_Shape(rate, duration, arrivals, burst, users, think, lengths, seed), trace)
    target = LoadTarget(inputs.base_url(url), model, not completions, whole, inputs.duration("--timeout", timeout))
    with _watching() as watch:
        tally, ended = run(target, wanted, inputs.key_in(key_env), watch)
    found = summary(tally)
    _write(found, target, save or (), output, whole=ended)
    if not found.answered:
        raise typer.Exit(1)


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
        raise WorkbenchError(f"pass one of --rate, --users and --trace, found {found}", 2)
    if shape.think and not shape.users:
        raise WorkbenchError("--think: is what users wait; pass --users too", 2)
    if trace is not None:
        return read_trace(trace)
    seconds = inputs.duration("--duration", shape.duration)
    if shape.users:
        think = inputs.duration("--think", shape.think) if shape.think else 0.0
        return Users(shape.users, think, seconds, shape.lengths, shape.seed)
    rate = inputs.rate(shape.rate)
    expected = (rate.first + rate.last) / 2 * seconds
    if expected > _MOST_REQUESTS:
        raise WorkbenchError(f"--rate: {expected:,.0f} requests are more than {_MOST_REQUESTS:,}; lower it", 2)
    return planned(rate, seconds, shape.arrivals, shape.burst, shape.lengths, shape.seed)


def _check_files(paths: "list[Path] | tuple[()]") -> None:
    for path in paths:
        if path.suffix not in _FORMS:
            raise WorkbenchError(f"--save: must end in {' or '.join(_FORMS)}, found {str(path)!r}", 2)
        if not path.parent.is_dir():
            raise WorkbenchError(f"--save: there is no folder {str(path.parent)!r}", 2)


def _write(
    found: "LoadSummary", target: "LoadTarget", paths: "list[Path] | tuple[()]", output: Format, *, whole: bool
) -> None:
    from .page import page
    from .report import show

    title = f"{target.model} at {target.url}" + ("" if whole else ", interrupted")
    text = json.dumps({"model": target.model, "url": target.url, "whole": whole, **found.as_dict()}, indent=2) + "\n"
    for path in paths:
        content = text if path.suffix == ".json" else page(found, title)
        try:
            path.write_text(content, encoding="utf-8")
        except OSError as error:
            raise WorkbenchError(f"--save: {path}: {error.strerror}") from None
    if output is Format.JSON:
        sys.stdout.write(text)
    else:
        show(found, title)


@contextmanager
def _watching() -> "Iterator[Callable[[float, Tally], None]]":
    """Show how it goes: on a terminal all the time, elsewhere a line now and then."""
    from rich.console import Console

    from .report import live_line

    console = Console(stderr=True, highlight=False, markup=False)
    if console.is_terminal:
        with console.status("") as status:
            yield lambda seconds, tally: status.update(live_line(seconds, tally))
        return
    moments = itertools.count(_SAID_EVERY, _SAID_EVERY)
    due = next(moments)

    def say(seconds: float, tally: "Tally") -> None:
        nonlocal due
        if seconds >= due:
            due = next(moment for moment in moments if moment > seconds)
            console.print(live_line(seconds, tally), soft_wrap=True)

    yield say
