"""``workbench size``: how many replicas on which accelerator meet an SLO, and what they cost."""

import csv
import enum
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from components.contract.texts.outputs import csv_cell
from toolkit.plotting.pictures import check_picture
from toolkit.printing import output_option, print_to_stderr
from toolkit.screen import Details, Screen, write

from ..errors import WorkbenchError
from ..subject import Paths, Subject, takes_subject
from .columns import Value, as_dict, rows
from .inputs import parse_cents, parse_profiles, plain_number
from .question import Comparison, LoadOptions, candidates_of, estimated_paces, question_of
from .targets import SizedModel, bare_model, find_variant

if TYPE_CHECKING:
    from components.performance.sizing.assessments import Assessment, Candidate


class SizeOutput(enum.StrEnum):
    TEXT = "text"
    JSON = "json"
    CSV = "csv"


Model = Annotated[str, typer.Option("--model", help="Model name, as clients request it.")]
Variant = Annotated[
    str,
    typer.Option(help="Variant in the manifests to size instead of --model, as name or namespace/name."),
]
Rate = Annotated[str, typer.Option(metavar="N", help="Requests per minute, over all replicas.")]
Users = Annotated[
    str,
    typer.Option(
        "--users",
        metavar="N",
        help="Users who send one request after the other, instead of --rate; the result is checked by a simulation.",
    ),
]
Think = Annotated[
    str,
    typer.Option(
        "--think", metavar="S", help="Mean seconds between an answer and the user's next request; default 0."
    ),
]
InputTokens = Annotated[str, typer.Option(metavar="N", help="Mean number of input tokens per request.")]
OutputTokens = Annotated[str, typer.Option(metavar="N", help="Mean number of output tokens per request.")]
SloItl = Annotated[
    str, typer.Option("--slo-itl", "--itl", metavar="MS", help="Target for the mean inter-token latency; 0 for none.")
]
SloTtft = Annotated[
    str,
    typer.Option(
        "--slo-ttft",
        "--ttft",
        metavar="MS",
        help="Target for the 95th percentile of the time to first token; 0 for none.",
    ),
]
Prefill = Annotated[
    str,
    typer.Option(
        metavar="MS",
        help="Measured prefill time. Without it, estimates include an estimated prefill, and of profiles without "
        "one only the queueing time is predicted.",
    ),
]
Profiles = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PROFILE",
        help="Performance profile of a replica, as printed by fit-profile. Can be repeated. Defaults to the profile "
        "of the variant, else to reference figures of the model, else to an estimate.",
    ),
]
ProfileFiles = Annotated[
    list[Path] | None,
    typer.Option(metavar="FILE", help="Profiles written by fit-profile --output json. Can be repeated."),
]
Cents = Annotated[
    list[str] | None,
    typer.Option(
        metavar="ACC=CENTS",
        help="US cents per hour of one accelerator. Can be repeated. Defaults to the settings, "
        "else to its share of the cheapest on-demand instance in us-east-1.",
    ),
]
Accelerators = Annotated[
    list[str] | None,
    typer.Option(metavar="ACC", help="Compare only this accelerator. Can be repeated. Defaults to all."),
]
Literal = Annotated[bool, typer.Option("--literal", help="Size exactly as the upstream controller does.")]
ToZero = Annotated[
    bool | None,
    typer.Option(
        "--scale-to-zero/--keep-one",
        help="Scale to zero replicas without requests (--rate 0), or keep one. Defaults to serviceLevels of the "
        "stack, else keeps one.",
    ),
]
Form = Annotated[SizeOutput, output_option("Output format; json and csv contain all figures.")]
Plot = Annotated[
    Path | None,
    typer.Option(metavar="FILE.svg", help="Write a plot to an SVG or PNG file."),
]


def register(app: typer.Typer) -> None:
    """Add the ``size`` command."""
    app.command()(size)


@takes_subject
def size(
    subject: Subject,
    *,
    paths: Paths = None,
    model: Model = "",
    variant: Variant = "",
    rate: Rate = "",
    users: Users = "",
    think: Think = "",
    input_tokens: InputTokens = "",
    output_tokens: OutputTokens = "",
    slo_itl: SloItl = "",
    slo_ttft: SloTtft = "",
    prefill_ms: Prefill = "",
    profile: Profiles = None,
    profiles: ProfileFiles = None,
    price: Cents = None,
    accelerator: Accelerators = None,
    literal: Literal = False,
    scale_to_zero: ToZero = None,
    output: Form = SizeOutput.TEXT,
    details: Details = False,
    plot: Plot = None,
) -> None:
    """Compare how many replicas on each accelerator meet an SLO under a load, with latency and cost.

    Exit codes: 0 at least one accelerator meets the SLO, 1 none does, 2 usage error.
    """
    from components.performance.sizing.assessments import assessed

    check_picture(plot, [".svg", ".png"])
    options = LoadOptions(
        rate=rate,
        users=users,
        think=think,
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        slo_itl=slo_itl,
        slo_ttft=slo_ttft,
        prefill_ms=prefill_ms,
        literal=literal,
        scale_to_zero=scale_to_zero,
    )
    comparison = Comparison(parse_profiles(profile, profiles), parse_cents(price), tuple(accelerator or ()))
    if model and variant:
        raise WorkbenchError("--model and --variant cannot be used together", 2)
    if not (model.strip() or variant.strip() or comparison.profiles):
        raise WorkbenchError("pass --model, or --variant with manifests, or --profile", 2)
    if paths and not variant:
        raise WorkbenchError("manifests are read only for --variant; pass --variant, or omit the paths", 2)
    target = find_variant(variant.strip(), subject, paths) if variant else bare_model(model.strip(), subject)
    question = question_of(target, options)
    assessments = assessed(question, candidates_of(target, comparison, question))
    if question.loop:
        from .checking import MOST_USERS, checked_assessments

        if question.loop.users <= MOST_USERS:
            paces = estimated_paces(target, comparison, question)
            assessments = checked_assessments(assessments, question.loop, paces)
    print_to_stderr(f"note: {note}" for note in _notes(target, assessments))
    if output is SizeOutput.TEXT:
        from .report import lines

        write(lines(assessments, target.heading, Screen.of(), details=details))
    elif output is SizeOutput.JSON:
        sys.stdout.write(json.dumps(as_dict(assessments, target.model), indent=2) + "\n")
    else:
        table = rows(assessments)
        writer = csv.DictWriter(sys.stdout, list(table[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: _csv_cell(value) for name, value in row.items()} for row in table)
    if plot:
        from .curve import curve_of
        from .plot import POINTS, write_plot

        first = assessments[0]
        curve = curve_of(first.sized, first.question.prefill_ms, POINTS)
        on = first.candidate.profile.title
        if curve is None:
            print_to_stderr([f"note: no plot of {on}: {first.sized.reason or 'the load is zero'}"])
        else:
            write_plot(first, curve, f"{target.title} on {on}", plot)
    if not any(assessment.sized.is_feasible for assessment in assessments):
        raise typer.Exit(1)


def _notes(target: SizedModel, assessments: "Sequence[Assessment]") -> Iterator[str]:
    question = assessments[0].question
    candidates = [assessment.candidate for assessment in assessments]
    for doubt in sorted({candidate.doubt for candidate in candidates if candidate.doubt}):
        figures = "estimates" if any(candidate.is_estimated for candidate in candidates) else "reference figures"
        yield f"these are {figures}; benchmark before relying on them: {doubt}"
    scaled = [candidate for candidate in candidates if candidate.is_scaled]
    if scaled:
        tokens = question.load.input_tokens + question.load.output_tokens
        batches = ", ".join(
            f"{candidate.profile.accelerator} {candidate.batch} -> {candidate.uncapped or candidate.profile.batch}"
            for candidate in scaled
        )
        yield (
            f"reference batches are for requests of {scaled[0].tokens} tokens and are scaled to "
            f"{plain_number(tokens)} tokens: {batches}"
        )
    if not question.load.input_tokens and any(candidate.tokens for candidate in candidates):
        yield "without --input-tokens, prompts are assumed to be empty, which overestimates the batch"
    feasible = [assessment.candidate for assessment in assessments if assessment.sized.is_feasible]
    unpriced = sorted({candidate.profile.accelerator for candidate in feasible if not candidate.price})
    if unpriced:
        yield f"the price of {', '.join(unpriced)} is unknown; pass --price {unpriced[0]}=<cents per hour>"
    yield from _limit_notes(target, candidates)
    if not all(assessment.has_prefill for assessment in assessments):
        compared = ", and the TTFT target is compared with it alone" if question.targets.ttft_ms else ""
        yield (
            f"only the queueing time is predicted{compared}; measure the prefill time and pass it with --prefill-ms"
        )
    best = candidates[0].profile.accelerator
    if target.accelerator not in ("", best) and assessments[0].chosen:
        yield f"{target.title} runs on {target.accelerator}; {best} meets the SLO at a lower cost"
    if question.literal and feasible and not any(assessment.chosen for assessment in assessments):
        reason = f"it stays on {target.accelerator}" if target.accelerator else "none has a price"
        yield f"upstream chooses none of the accelerators that meet the SLO: {reason}"


def _limit_notes(target: SizedModel, candidates: "Sequence[Candidate]") -> Iterator[str]:
    """Yield how the engine's limit on concurrent requests changes the batches."""
    engine = (
        " and ".join(f"{workload.kind}/{workload.name}" for workload in target.workloads)
        or "an engine with its defaults"
    )
    capped: dict[str, list[str]] = {}
    for candidate in candidates:
        if candidate.is_capped:
            change = f"{candidate.profile.accelerator} {candidate.uncapped} -> {candidate.profile.batch}"
            capped.setdefault(candidate.limit, []).append(change)
    for limit, changes in capped.items():
        yield f"{engine} limits concurrent requests below the batch of the profile ({limit}): {', '.join(changes)}"
    for candidate in candidates:
        accelerator, batch = candidate.profile.accelerator, candidate.profile.batch
        if candidate.most is not None and candidate.most < batch:
            yield (
                f"upstream does not cap the batch of {accelerator}, {batch}; {engine} limits concurrent requests to "
                f"{candidate.most} ({candidate.limit})"
            )
    for reason in sorted({item.limit for item in candidates if item.limit and item.most is None}):
        yield f"batches are not capped, because the limit of {engine} on concurrent requests is unknown: {reason}"


def _csv_cell(value: Value) -> Value:
    """Format a value for CSV: booleans as in JSON, text that is no formula."""
    if isinstance(value, bool):
        return str(value).lower()
    return csv_cell(value) if isinstance(value, str) else value
