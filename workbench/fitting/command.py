"""``workbench fit-profile``: how fast a replica of a model generates tokens, fitted to benchmarks of it."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from toolkit.plotting.pictures import check_picture
from toolkit.printing import Format, print_to_stderr

from .checks import check_enough, check_fit, usable, warnings
from .entry import batch_of, check_accelerator, profile_of
from .files import read_benchmarks
from .line import LineFit, fit
from .measurements import Latency

_MOST_ACCELERATORS = 10_000
_MOST_AT_ONCE = 1_000_000

Files = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE",
        help="Benchmarks: CSV with concurrency and itl_ms, results of vllm bench serve --save-result, or reports of "
        "guidellm as JSON, YAML or CSV; - reads stdin.",
    ),
]
AcceleratorName = Annotated[
    str, typer.Option("--accelerator", metavar="ACC", help="Write a profile for this accelerator.")
]
Count = Annotated[
    int, typer.Option(min=1, max=_MOST_ACCELERATORS, help="Accelerators of the replica that was measured.")
]
Batch = Annotated[
    int | None,
    typer.Option(
        min=2,
        max=_MOST_AT_ONCE,
        help="Requests that the engine works on at once (max-num-seqs); measurements above it are left out. Default: "
        "the largest concurrency that was measured.",
    ),
]
UpTo = Annotated[
    float | None,
    typer.Option(min=1, max=_MOST_AT_ONCE, help="Leave out measurements above this concurrency."),
]
WhichLatency = Annotated[
    Latency,
    typer.Option(
        help="Latency of vLLM's results: itl, the mean over all gaps, or tpot, per request and token after the first."
    ),
]
Form = Annotated[Format, typer.Option(help="text with a plot, or json for other programs.")]
Plot = Annotated[
    Path | None, typer.Option(metavar="FILE.svg", help="Write a picture of the line, too; .png is possible.")
]


def register(app: typer.Typer) -> None:
    """Add the ``fit-profile`` command."""
    app.command("fit-profile")(fit_profile)


def fit_profile(
    files: Files,
    *,
    accelerator: AcceleratorName = "",
    count: Count = 1,
    batch: Batch = None,
    up_to: UpTo = None,
    latency: WhichLatency = Latency.ITL,
    output: Form = Format.TEXT,
    plot: Plot = None,
) -> None:
    """Fit how fast a replica generates tokens, alpha + beta * n milliseconds with n requests at once."""
    check_picture(plot, [".svg", ".png"])
    check_accelerator(accelerator)
    fitted, notes = _fitted(files, latency, up_to, batch)
    profile = profile_of(fitted, accelerator, count, batch or batch_of(fitted))
    warned = list(warnings(fitted, profile.batch))
    print_to_stderr(f"note: {note}" for note in notes)
    print_to_stderr(f"warning: {warning}" for warning in warned)
    if output is Format.JSON:
        from .report import as_dict

        sys.stdout.write(json.dumps(as_dict(fitted, profile, warned), indent=2) + "\n")
    else:
        from .report import show

        show(fitted, profile)
    if plot:
        from .plot import write_plot

        write_plot(fitted, plot)


def _fitted(files: list[Path], latency: Latency, up_to: float | None, batch: int | None) -> tuple[LineFit, list[str]]:
    """Return the fit, and what is odd about the files.

    Raises:
        WorkbenchError: there is none.
    """
    found = read_benchmarks(files, latency)
    used = usable(found.measurements, up_to=up_to, batch=batch)
    left_out = len(found.measurements) - len(used)
    check_enough(used, left_out)
    fitted = fit(used)
    check_fit(fitted)
    notes = list(found.notes)
    if left_out:
        notes.append(f"{left_out} of {len(found.measurements)} measurements left out: their concurrency is too high")
    return fitted, notes
