"""The command ``load`` and its options."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from toolkit.errors import UserError
from toolkit.printing import Format, Output

from .arrivals import Arrivals, Lengths

if TYPE_CHECKING:
    from .runner import Load

_MAX_USERS = 10_000
_MAX_REQUESTS = 5_000_000

Url = Annotated[
    str,
    typer.Option(
        help="Base URL of the API, such as http://127.0.0.1:8000/v1. Without it, --model is a model of the running "
        "live fleet.",
        metavar="URL",
    ),
]
Model = Annotated[str, typer.Option(help="Model name; for a model of the live fleet, also its key in the outputs.")]
Stack = Annotated[str, typer.Option(help="Stack of the model, if it is one of the live fleet.")]
Cwd = Annotated[Path, typer.Option(help="Project folder.", metavar="DIR")]
Door = Annotated[
    bool, typer.Option("--door", help="Send requests through the gateway of the live fleet, with a valid key.")
]
Follow = Annotated[str, typer.Option(help="How long to record the live fleet after the last request, such as 5m.")]
Rate = Annotated[
    str, typer.Option(metavar="N[..N]", help="Requests per second: constant, or a linear change from N to N.")
]
Duration = Annotated[str, typer.Option(help="Duration of the load, such as 30s, 5m or 1h.")]
Kind = Annotated[Arrivals, typer.Option(help="Distribution of the time between requests.")]
Burst = Annotated[int, typer.Option(min=1, max=10_000, help="Requests to send at a time, at the same rate.")]
UserCount = Annotated[
    int,
    typer.Option("--users", min=0, max=_MAX_USERS, help="Users who wait for each answer before the next request."),
]
Think = Annotated[str, typer.Option(help="Time that a user waits between an answer and the next request.")]
Trace = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Requests of a trace: CSV or JSON lines with time, input_tokens and output_tokens, or a published trace "
        "of Azure, Mooncake or BurstGPT.",
    ),
]
InputTokens = Annotated[str, typer.Option(metavar="N[..N]", help="Approximate tokens of a request.")]
OutputTokens = Annotated[str, typer.Option(metavar="N[..N]", help="Maximum tokens of an answer.")]
Whole = Annotated[bool, typer.Option("--whole", help="Request answers of the full length (vLLM and SGLang).")]
Completions = Annotated[bool, typer.Option("--completions", help="Request completions of a text instead of chats.")]
KeyEnv = Annotated[str, typer.Option(metavar="NAME", help="Environment variable with the API key.")]
Timeout = Annotated[str, typer.Option(help="Timeout of a request.")]
Seed = Annotated[int, typer.Option(help="The same seed sends the same requests at the same times.")]
Saved = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="FILE", help="Also write the result to a file: .html with plots, or .json. May be repeated."
    ),
]


@dataclass(frozen=True, slots=True)
class _Profile:
    """The options that describe a load, apart from --trace."""

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
    """Send load to a model, and report what clients see: rates, time to the first token, errors.

    Works with any OpenAI-compatible endpoint (--url), and with the models of the live fleet, whose queues, replicas,
    nodes and costs are then reported, too. Ctrl-C ends it early.
    """
    from . import inputs
    from .session import LoadTargetOptions, check_files, run_load, write

    check_files(save or ())
    lengths = Lengths(inputs.tokens("--input-tokens", input_tokens), inputs.tokens("--output-tokens", output_tokens))
    requests = _parse_load(
        _Profile(
            rate=rate,
            duration=duration,
            arrivals=arrivals,
            burst=burst,
            users=users,
            think=think,
            lengths=lengths,
            seed=seed,
        ),
        trace,
    )
    target = LoadTargetOptions(
        model=model,
        url=url,
        stack=stack,
        cwd=cwd,
        door=door,
        follow=follow,
        chat=not completions,
        whole=whole,
        timeout=timeout,
        key_env=key_env,
    )
    result = run_load(target, requests)
    write(result, save or (), output)
    if not result.clients.answered:
        raise typer.Exit(1)


def _parse_load(profile: _Profile, trace: Path | None) -> "Load":
    """Return the load that the options describe: a rate, users or a trace."""
    from . import inputs
    from .arrivals import planned
    from .runner import Users
    from .trace import read_trace

    options = {"--rate": bool(profile.rate), "--users": bool(profile.users), "--trace": trace is not None}
    passed = [name for name, is_set in options.items() if is_set]
    if len(passed) != 1:
        found = " and ".join(passed) or "none of them"
        raise UserError(f"pass one of --rate, --users and --trace, found {found}", 2)
    if profile.think and not profile.users:
        raise UserError("--think: is for users only; pass --users, too", 2)
    if trace is not None:
        return read_trace(trace)
    seconds = inputs.duration("--duration", profile.duration)
    if profile.users:
        think = inputs.duration("--think", profile.think) if profile.think else 0.0
        return Users(profile.users, think, seconds, profile.lengths, profile.seed)
    rate = inputs.rate(profile.rate)
    expected = (rate.first + rate.last) / 2 * seconds
    if expected > _MAX_REQUESTS:
        raise UserError(f"--rate: {expected:,.0f} requests are more than {_MAX_REQUESTS:,}; lower it", 2)
    return planned(
        rate, seconds, arrivals=profile.arrivals, burst=profile.burst, lengths=profile.lengths, seed=profile.seed
    )
