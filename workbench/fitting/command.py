"""``workbench dev fit-profile``: fit the performance profile of a replica to benchmark results."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from toolkit.plotting.pictures import check_picture
from toolkit.printing import Format, output_option, print_to_stderr
from toolkit.screen import Details, Screen, write

from .checks import check_enough, check_fit, usable, warnings
from .entry import batch_of, check_accelerator, profile_of
from .files import read_benchmarks
from .line import fit
from .measurements import Latency

_MAX_ACCELERATORS = 10_000
_MAX_CONCURRENCY = 1_000_000

Files = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE",
        help="Benchmark results: CSV with concurrency and itl_ms, output of vllm bench serve --save-result, or "
        "reports of guidellm as JSON, YAML or CSV; - reads stdin.",
    ),
]
AcceleratorName = Annotated[
    str, typer.Option("--accelerator", metavar="ACC", help="Write a profile for this accelerator.")
]
Count = Annotated[
    int, typer.Option(min=1, max=_MAX_ACCELERATORS, help="Number of accelerators of the measured replica.")
]
Batch = Annotated[
    int | None,
    typer.Option(
        min=2,
        max=_MAX_CONCURRENCY,
        help="Maximum concurrent requests of the engine (max-num-seqs). Leaves out measurements above it. Defaults "
        "to the highest measured concurrency.",
    ),
]
UpTo = Annotated[
    float | None,
    typer.Option(min=1, max=_MAX_CONCURRENCY, help="Leave out measurements above this concurrency."),
]
WhichLatency = Annotated[
    Latency,
    typer.Option(
        help="Latency to read from vLLM results: itl, the mean gap between tokens, or tpot, time per output token."
    ),
]
Form = Annotated[Format, output_option("Output format: text with a plot, or all figures as JSON.")]
Plot = Annotated[Path | None, typer.Option(metavar="FILE.svg", help="Write a plot to an SVG or PNG file.")]


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
    details: Details = False,
    plot: Plot = None,
) -> None:
    """Fit the inter-token latency of a replica, alpha + beta * n milliseconds at n concurrent requests."""
    check_picture(plot, [".svg", ".png"])
    check_accelerator(accelerator)
    benchmarks = read_benchmarks(files, latency)
    used = usable(benchmarks.measurements, up_to=up_to, batch=batch)
    left_out = len(benchmarks.measurements) - len(used)
    check_enough(used, left_out)
    fitted = fit(used)
    check_fit(fitted)
    notes = list(benchmarks.notes)
    if left_out:
        notes.append(f"{left_out} of {len(benchmarks.measurements)} measurements left out: concurrency too high")
    profile = profile_of(fitted, accelerator, count, batch or batch_of(fitted))
    fit_warnings = list(warnings(fitted, profile.batch))
    print_to_stderr(f"note: {note}" for note in notes)
    print_to_stderr(f"warning: {warning}" for warning in fit_warnings)
    if output is Format.JSON:
        from .report import as_dict

        sys.stdout.write(json.dumps(as_dict(fitted, profile, fit_warnings), indent=2) + "\n")
    else:
        from .report import lines

        write(lines(fitted, profile, Screen.of(), details=details))
    if plot:
        from .plot import write_plot

        write_plot(fitted, plot)
