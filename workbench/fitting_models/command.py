"""``workbench fit``: does a model fit, on which accelerators, and what does it cost?"""

import enum
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from toolkit.printing import output_option, print_to_stderr
from toolkit.screen import Details, Screen, write

from ..errors import WorkbenchError
from ..subject import StackOption

if TYPE_CHECKING:
    from components.families.authoring import WeightsSource
    from components.plan.fitting.options import FitAnswer, FitOption
    from components.plan.fitting.question import FitQuestion

    from .inputs import GivenModel


class FitFormat(enum.StrEnum):
    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"


_ENGINE = "vllm"
Model = Annotated[
    str,
    typer.Argument(
        metavar="MODEL",
        help="A model of the catalog, with or without its publisher; a repository; a config.json or its folder; or a "
        "GGUF file.",
    ),
]
Parameters = Annotated[
    str,
    typer.Option(metavar="N", help="Number of parameters of a model without a name, such as 70B. Needs --max-len."),
]
Gpu = Annotated[
    str,
    typer.Option(
        metavar="GPU",
        help="Only this accelerator, such as L40S or 4xL40S, or this instance type; lists every type with it.",
    ),
]
EngineName = Annotated[
    str,
    typer.Option(
        "--engine",
        metavar="ENGINE[==VERSION]",
        help="Engine that serves it, such as vllm==0.20.0. Defaults to vllm, and to llamacpp for GGUF files.",
    ),
]
MaxLen = Annotated[
    int | None,
    typer.Option(min=1, metavar="TOKENS", help="Tokens of a request with its answer. Defaults to the model's own."),
]
Users = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="Requests at once, each of --max-len tokens; sets the number of replicas."),
]
Quantization = Annotated[
    str, typer.Option(metavar="METHOD", help="Quantize the weights while they are loaded, such as fp8.")
]
Args = Annotated[
    list[str] | None,
    typer.Option(
        "--arg", metavar="FLAG=VALUE", help="Flag of the engine, with its dashes, as in a manifest. Can be repeated."
    ),
]
Region = Annotated[
    str, typer.Option(metavar="REGION", help="Region of the prices. Default: of the stack, else of the tables.")
]
Cwd = Annotated[Path, typer.Option(help="Project folder of the stack.", metavar="DIR")]
Form = Annotated[FitFormat, output_option("Output format; json contains all figures.")]
Explain = Annotated[bool, typer.Option("--explain", help="Show each term of the cheapest option, with its source.")]
Yaml = Annotated[
    str,
    typer.Option(
        "--yaml", metavar="FAMILY", help="Print manifests of the cheapest option, for llmaz, llmkube or kthena."
    ),
]
Weights = Annotated[
    str,
    typer.Option(
        metavar="ADDRESS",
        help="Where pods load the weights of --yaml from: a Hugging Face repository, or an hf://, s3://, pvc:// or "
        "other address. Defaults to the repository that the model is named after.",
    ),
]
WeightsSecret = Annotated[
    str, typer.Option(metavar="NAME", help="Secret with the credentials for an s3:// address of --weights.")
]


def register(app: typer.Typer) -> None:
    """Add the ``fit`` command."""
    app.command()(fit)


def fit(
    model: Model = "",
    *,
    parameters: Parameters = "",
    gpu: Gpu = "",
    engine: EngineName = "",
    max_len: MaxLen = None,
    users: Users = None,
    quantization: Quantization = "",
    arg: Args = None,
    region: Region = "",
    form: Form = FitFormat.TEXT,
    details: Details = False,
    explain: Explain = False,
    yaml: Yaml = "",
    weights: Weights = "",
    weights_secret: WeightsSecret = "",
    stack: StackOption = None,
    cwd: Cwd = Path(),
) -> None:
    """Show which accelerators a model fits, for how many users, how fast, and at which price.

    Needs no manifest, no cluster and no network. In a project, takes region, prices, modelShapes and
    instanceTypes from the stack. Verdicts and prices are those of a plan with the same settings.

    Exit codes: 0 it fits an accelerator, 1 it fits none, 2 usage error.
    """
    from components.fleet.instances import instances_beside
    from components.plan.fitting.options import context_problem, fit_answer

    from .inputs import given_accelerator
    from .stack import fit_settings
    from .weights import sizing_note, weights_source

    settings = fit_settings(cwd, stack)
    with instances_beside(settings.types):
        given = settings.model(model, parameters)
        if (weights or weights_secret) and not yaml:
            raise WorkbenchError("--weights and --weights-secret are for manifests; add --yaml", 2)
        source = weights_source(weights, weights_secret, given) if yaml else None
        if settings.title and (settings.stack or sys.stderr.isatty()):
            print_to_stderr([settings.title])
        question = settings.applied_to(
            _question(
                given,
                engine,
                max_len=max_len,
                users=users,
                quantization=quantization,
                args=arg,
                region=region or settings.region,
            )
        )
        if problem := context_problem(question):
            raise WorkbenchError(f"--max-len: {problem}", 2)
        accelerator = given_accelerator(gpu)
        answer = fit_answer(question, accelerator.wanted, count=accelerator.number)
        if source:
            sys.stdout.write(_manifests(yaml, source, question, answer))
            if note := sizing_note(source, given):
                print_to_stderr([note])
            return
        if form is FitFormat.JSON:
            from .data import as_json

            sys.stdout.write(as_json(question, answer))
        else:
            from .report import FitReport

            report = FitReport.of(question, answer, gpu, everything=details or bool(gpu))
            if form is FitFormat.MARKDOWN:
                sys.stdout.write(report.markdown(explain=explain))
            else:
                write(report.text(Screen.of(), details=details, explain=explain))
        if not answer.options:
            raise typer.Exit(1)


def _question(
    given: "GivenModel",
    engine: str,
    max_len: int | None,
    users: int | None,
    quantization: str,
    args: list[str] | None,
    region: str,
) -> "FitQuestion":
    from components.fleet.cloud_providers import default_provider, is_region
    from components.plan.fitting.question import FitQuestion, engine_choice, split_args

    serving = engine_choice(engine or given.engine or _ENGINE)
    if isinstance(serving, str):
        raise WorkbenchError(f"--engine: {serving}", 2)
    if given.engine and serving.engine.name != given.engine:
        raise WorkbenchError(f"--engine: {given.name} is served by {given.engine}, found {serving.engine.name}", 2)
    if region and not is_region(region):
        raise WorkbenchError(f"--region: must be a region such as us-east-1, found {region!r}", 2)
    return FitQuestion(
        model=given.name,
        serving=serving,
        region=region or default_provider().prices.region,
        known=given.known,
        context=max_len,
        quantization=quantization,
        args=split_args(args or ()),
        users=users,
    )


def _manifests(family: str, weights: "WeightsSource", question: "FitQuestion", answer: "FitAnswer") -> str:
    """Return the manifests of the cheapest option with room, otherwise of the cheapest one.

    Raises:
        WorkbenchError: there is no option, or the family cannot describe it.
    """
    from components.contract.documents.writer import dump_all
    from components.families.authoring import InexpressibleError
    from components.plan.fitting.manifests import families, manifests_of

    if family not in families():
        raise WorkbenchError(f"--yaml: must be one of {', '.join(families())}, found {family!r}", 2)
    option = chosen(answer)
    if option is None:
        reasons = (f"{refusal.accelerator}: {refusal.reason}" for refusal in answer.refusals)
        why = answer.unknown or "; ".join(reasons) or "no instance type has such an accelerator"
        raise WorkbenchError(f"{question.model} fits no accelerator: {why}")
    if option.price is None:
        print_to_stderr([f"note: the price of {option.node.name} in {question.region} is unknown"])
    try:
        return dump_all(manifests_of(family, question, option, weights))
    except InexpressibleError as error:
        raise WorkbenchError(f"--yaml: {error}", 2) from None


def chosen(answer: "FitAnswer") -> "FitOption | None":
    """Return the cheapest option that is not tight, otherwise the cheapest one; None without any."""
    from components.checks.memory.cases import Fit

    roomy = (option for option in answer.options if option.verdict.fit is Fit.FITS)
    return next(roomy, next(iter(answer.options), None))
