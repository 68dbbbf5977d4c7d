"""The options of ``workbench load``."""

from pathlib import Path
from typing import Annotated

import typer

from toolkit.printing import Format

from .arrivals import Arrivals

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
