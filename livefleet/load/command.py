"""The command."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from toolkit.errors import UserError
from toolkit.printing import Format

from . import options as of
from .arrivals import Arrivals, Lengths

if TYPE_CHECKING:
    from .runner import Load

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
    model: of.Model,
    url: of.Url = "",
    stack: of.Stack = "local",
    cwd: of.Cwd = Path(),
    door: of.Door = False,
    follow: of.Follow = "",
    rate: of.Rate = "",
    duration: of.Duration = "1m",
    arrivals: of.Kind = Arrivals.POISSON,
    burst: of.Burst = 1,
    users: of.UserCount = 0,
    think: of.Think = "",
    trace: of.Trace = None,
    input_tokens: of.InputTokens = "200",
    output_tokens: of.OutputTokens = "100",
    whole: of.Whole = False,
    completions: of.Completions = False,
    key_env: of.KeyEnv = "",
    timeout: of.Timeout = "5m",
    seed: of.Seed = 0,
    save: of.Saved = None,
    output: of.Output = Format.TEXT,
) -> None:
    """Put load on a model, and show what clients see: rates, time to the first token, errors.

    Works against any endpoint that speaks OpenAI's API (--url), and against the models of the live fleet, with the
    queues, replicas, nodes and dollars of the simulated fleet. Ctrl-C ends it early.
    """
    from .results import check_files, write
    from .running import AskedServer, loaded

    check_files(save or ())
    lengths = _lengths(input_tokens, output_tokens)
    wanted = _wanted(_Shape(rate, duration, arrivals, burst, users, think, lengths, seed), trace)
    asked = AskedServer(model, url, stack, cwd, door, follow, not completions, whole, timeout, key_env)
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
