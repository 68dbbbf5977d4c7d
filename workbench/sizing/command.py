"""``workbench size``: how many replicas of which accelerator keep a promise, and what they cost."""

import csv
import enum
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from components.contract.texts.printable import printable
from toolkit.plotting.pictures import check_picture
from toolkit.printing import print_to_stderr

from ..errors import WorkbenchError
from ..subject import Paths, Subject, takes_subject
from .columns import Value, as_dict, rows
from .inputs import cents_given, plain_number, profiles_given
from .question import Comparison, Given, candidates_of, question_of
from .targets import SizedModel, bare_model, found_variant

if TYPE_CHECKING:
    from components.performance.sizing.assessments import Assessment


class SizeOutput(enum.StrEnum):
    """How the assessments are written."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


Model = Annotated[str, typer.Option("--model", help="The model, by the name under which clients ask for it.")]
Variant = Annotated[
    str,
    typer.Option(help="Name, or namespace/name, of a variant among the manifests, instead of --model."),
]
Rate = Annotated[str, typer.Option(metavar="N", help="Requests per minute, over all replicas.")]
InputTokens = Annotated[str, typer.Option(metavar="N", help="Mean tokens of a prompt.")]
OutputTokens = Annotated[str, typer.Option(metavar="N", help="Mean tokens of an answer.")]
SloItl = Annotated[
    str, typer.Option(metavar="MS", help="Promised mean time from one token to the next; 0 for no promise.")
]
SloTtft = Annotated[
    str, typer.Option(metavar="MS", help="Promised time to the first token, for 95 % of requests; 0 for no promise.")
]
Prefill = Annotated[
    str,
    typer.Option(
        metavar="MS",
        help="Measured prefill time; without it, only the time in the queue is predicted.",
    ),
]
Profiles = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PROFILE",
        help="How fast a replica is, as fit-profile says it; may be repeated. Default: what the variant says, else "
        "reference figures of the model.",
    ),
]
ProfileFiles = Annotated[
    list[Path] | None,
    typer.Option(metavar="FILE", help="Profiles that fit-profile --output json wrote; may be repeated."),
]
Cents = Annotated[
    list[str] | None,
    typer.Option(
        metavar="ACC=CENTS",
        help="US cents an hour of one accelerator; may be repeated. Default: what settings say, else its "
        "share of the cheapest instance, on demand in us-east-1.",
    ),
]
Accelerators = Annotated[
    list[str] | None,
    typer.Option(metavar="ACC", help="Compare this accelerator alone; may be repeated. Default: all."),
]
Literal = Annotated[
    bool, typer.Option("--literal", help="Answer as upstream's controller does, with its rounding and its choice.")
]
ToZero = Annotated[
    bool | None,
    typer.Option(
        "--scale-to-zero/--keep-one",
        help="Keep no replica without requests (--rate 0). Default: what the stack says in serviceLevels, else one "
        "is kept.",
    ),
]
Form = Annotated[SizeOutput, typer.Option(help="table with a plot, or json or csv with every figure of the model.")]
Plot = Annotated[
    Path | None,
    typer.Option(metavar="FILE.svg", help="Write a picture of latency against load, too; .png is possible."),
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
    output: Form = SizeOutput.TABLE,
    plot: Plot = None,
) -> None:
    """Show how many replicas of which accelerator keep a promise at some load, how they do, and what they cost."""
    check_picture(plot, [".svg", ".png"])
    given = Given(rate, input_tokens, output_tokens, slo_itl, slo_ttft, prefill_ms, literal, scale_to_zero)
    comparison = Comparison(profiles_given(profile, profiles), cents_given(price), tuple(accelerator or ()))
    _check_named(model, variant, paths, comparison)
    target = found_variant(variant.strip(), subject, paths) if variant else bare_model(model.strip(), subject)
    found = _assessed(target, given, comparison)
    print_to_stderr(f"note: {note}" for note in _notes(target, found))
    _write(found, target, output)
    if plot:
        _draw(found[0], target, plot)
    if not any(each.sized.is_feasible for each in found):
        raise typer.Exit(1)


def _check_named(model: str, variant: str, paths: Sequence[Path] | None, comparison: Comparison) -> None:
    """Refuse what names nothing to size, or two things."""
    if model and variant:
        raise WorkbenchError("--model and --variant: pass one of them", 2)
    if not (model.strip() or variant.strip() or comparison.profiles):
        raise WorkbenchError("pass --model, or --variant with manifests, or --profile", 2)
    if paths and not variant:
        raise WorkbenchError("manifests are read for --variant alone; pass it, or no paths", 2)


def _assessed(target: SizedModel, given: Given, comparison: Comparison) -> "tuple[Assessment, ...]":
    from components.performance.sizing.assessments import assessed

    question = question_of(target, given)
    return assessed(question, candidates_of(target, comparison, question.load, literal=question.literal))


def _notes(target: SizedModel, found: "Sequence[Assessment]") -> Iterator[str]:
    """Yield what somebody who reads the assessments should know."""
    question = found[0].question
    for doubt in sorted({each.candidate.doubt for each in found if each.candidate.doubt}):
        yield f"reference figures, benchmark before you trust them: {doubt}"
    scaled = [each.candidate for each in found if each.candidate.is_scaled]
    if scaled:
        tokens = question.load.input_tokens + question.load.output_tokens
        batches = ", ".join(
            f"{each.profile.accelerator} {each.batch} -> {each.uncapped or each.profile.batch}" for each in scaled
        )
        sizes = f"requests of {scaled[0].tokens} tokens, these have {plain_number(tokens)}"
        yield f"reference batches are for {sizes}: {batches}"
    if not question.load.input_tokens and any(each.candidate.tokens for each in found):
        yield "without --input-tokens prompts are empty here, and more requests fit at once than in truth"
    feasible = [each.candidate for each in found if each.sized.is_feasible]
    unpriced = sorted({each.profile.accelerator for each in feasible if not each.price})
    if unpriced:
        yield f"no price is known of {', '.join(unpriced)}; pass --price {unpriced[0]}=<cents per hour>"
    yield from _limits(target, found)
    if question.prefill_ms is None:
        compared = ", and the promised TTFT is compared with it alone" if question.promise.ttft_ms else ""
        yield (
            f"the time that a request spends in the queue is predicted{compared}; prefill is not "
            "included: measure it, and pass --prefill-ms"
        )
    best = found[0].candidate.profile.accelerator
    if target.accelerator not in ("", best) and found[0].chosen:
        yield f"{target.title} runs on {target.accelerator}; {best} keeps the promise for less"
    if question.literal and feasible and not any(each.chosen for each in found):
        why = f"it stays on {target.accelerator}" if target.accelerator else "none has a price"
        yield f"upstream takes none of those that keep the promise: {why}"


def _limits(target: SizedModel, found: "Sequence[Assessment]") -> Iterator[str]:
    """Yield the batches that the engine's limit on concurrent requests lowers, and those of unknown limits."""
    candidates = [each.candidate for each in found]
    above: dict[str, list[str]] = {}
    for each in candidates:
        if each.is_capped:
            change = f"{each.profile.accelerator} {each.uncapped} -> {each.profile.batch}"
            above.setdefault(each.limit, []).append(change)
    who = " and ".join(f"{each.kind}/{each.name}" for each in target.workloads) or "an engine with its defaults"
    for limit, changes in above.items():
        yield f"{who} works on fewer requests at once than the figures are for ({limit}): {', '.join(changes)}"
    for each in candidates:
        if each.most is not None and each.most < each.profile.batch:
            accelerator, batch = each.profile.accelerator, each.profile.batch
            yield (
                f"upstream does not cap the batch of {accelerator}, {batch}; {who} works on {each.most} "
                f"requests at once ({each.limit})"
            )
    for reason in sorted({each.limit for each in candidates if each.limit and each.most is None}):
        yield f"the batch is not capped by the limit of {who} on concurrent requests, which is unknown: {reason}"


def _write(found: "Sequence[Assessment]", target: SizedModel, output: SizeOutput) -> None:
    if output is SizeOutput.TABLE:
        from .report import show

        show(found, target.heading)
    elif output is SizeOutput.JSON:
        sys.stdout.write(json.dumps(as_dict(found, target.model), indent=2) + "\n")
    else:
        figures = rows(found)
        writer = csv.DictWriter(sys.stdout, list(figures[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: _cell(value) for name, value in row.items()} for row in figures)


def _draw(first: "Assessment", target: SizedModel, path: Path) -> None:
    from .curve import curve_of
    from .plot import POINTS, write_plot

    accelerator = first.candidate.profile.title
    curve = curve_of(first.sized, first.question.prefill_ms, POINTS)
    if curve is None:
        print_to_stderr(
            [f"note: nothing is drawn of {accelerator}: {first.sized.reason or 'nothing is asked of it'}"]
        )
    else:
        write_plot(first, curve, f"{target.title} on {accelerator}", path)


def _cell(value: Value) -> Value:
    """Return a value for CSV: true and false are spelt as in JSON, and nothing in it moves a terminal's cursor."""
    if isinstance(value, bool):
        return str(value).lower()
    return printable(value) if isinstance(value, str) else value
