"""What is asked of ``workbench size``: a load, a promise, and the accelerators to compare."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TYPE_CHECKING

from ..errors import WorkbenchError
from .inputs import amount, milliseconds_in
from .targets import SizedModel

if TYPE_CHECKING:
    from components.engines.served.behavior import ConcurrencyLimit
    from components.fleet.levels import Load, Promise, ServiceClass
    from components.performance.sizing.assessments import Candidate, Question
    from components.performance.sizing.cases import Profile


@dataclass(frozen=True, slots=True)
class Given:
    """Options that say what is asked for, as they were given; empty where they were not."""

    rate: str = ""
    input_tokens: str = ""
    output_tokens: str = ""
    slo_itl: str = ""
    slo_ttft: str = ""
    prefill_ms: str = ""
    literal: bool = False
    scale_to_zero: bool | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Which accelerators to compare.

    Attributes:
        profiles: How fast a replica is on each; empty for what is known of the model.
        cents: By accelerator, its price.
        accelerators: Those to compare; empty for all.
    """

    profiles: "tuple[Profile, ...]" = ()
    cents: Mapping[str, Decimal] = field(default_factory=dict)
    accelerators: tuple[str, ...] = ()


def question_of(target: SizedModel, given: Given) -> "Question":
    """Return what is asked for.

    Raises:
        WorkbenchError: something is missing or wrong, or nobody could keep the promise.
    """
    from components.performance.sizing.assessments import Question

    load, promise = _load(target, given), _promise(target, given)
    prefill = milliseconds_in(given.prefill_ms, "--prefill-ms") if given.prefill_ms else None
    if promise.ttft_ms and prefill is not None and prefill >= promise.ttft_ms:
        raise WorkbenchError(
            f"--prefill-ms: if prefill takes {prefill} ms, no number of replicas keeps the promised time "
            f"to the first token, {promise.ttft_ms} ms"
        )
    to_zero = target.scale_to_zero if given.scale_to_zero is None else given.scale_to_zero
    return Question(promise, load, prefill, target.accelerator, given.literal, to_zero)


def _load(target: SizedModel, given: Given) -> "Load":
    """Return what is asked of a target: what is on the command line counts more than settings.

    Raises:
        WorkbenchError: something is missing or wrong.
    """
    from components.fleet.levels import Load

    known = target.load or Load(Decimal(-1), Decimal(-1))
    load = Load(
        _or(given.rate, known.per_minute, "--rate", "requests per minute such as 480"),
        _or(given.output_tokens, known.output_tokens, "--output-tokens", "mean tokens of an answer such as 256", 1),
        _or(given.input_tokens, known.input_tokens, "--input-tokens", "mean tokens of a prompt such as 512"),
    )
    missing = [
        option
        for option, value in (("--rate", load.per_minute), ("--output-tokens", load.output_tokens))
        if value < 0
    ]
    if missing:
        settings = f", or set {target.hint}" if target.hint else ""
        raise WorkbenchError(
            f"nothing says what is asked of {target.title}; pass {' and '.join(missing)}{settings}", 2
        )
    return load


def _or(text: str, known: Decimal, option: str, what: str, least: int = 0) -> Decimal:
    return amount(text, option, what, least=Decimal(least)) if text else known


def _promise(target: SizedModel, given: Given) -> "Promise":
    """Return what is promised of a target: what is on the command line counts more than its service class.

    Raises:
        WorkbenchError: nothing is, or two classes promise something.
    """
    from components.fleet.levels import Promise

    classes = target.levels.classes_of(target.model)
    if not (given.slo_itl and given.slo_ttft):
        _check_classes(target, classes)
    if not (given.slo_itl or given.slo_ttft or classes):
        raise WorkbenchError(
            f"nothing is promised for {target.title}; pass --slo-itl, --slo-ttft or both in milliseconds (0 for no "
            "promise), or add it to one of serviceLevels.classes and pass --stack",
            2,
        )
    promise = classes[0].promises[target.model] if classes else Promise()
    if given.slo_itl:
        promise = replace(promise, itl_ms=milliseconds_in(given.slo_itl, "--slo-itl"))
    if given.slo_ttft:
        promise = replace(promise, ttft_ms=milliseconds_in(given.slo_ttft, "--slo-ttft"))
    return promise


def _check_classes(target: SizedModel, classes: "Sequence[ServiceClass]") -> None:
    if len(classes) > 1:
        names = ", ".join(each.name for each in classes)
        remedy = "leave it in one, or pass --slo-itl and --slo-ttft"
        raise WorkbenchError(f"serviceLevels.classes: {target.model!r} is in several, {names}; {remedy}", 2)


def candidates_of(
    target: SizedModel, comparison: Comparison, load: "Load", *, literal: bool = False
) -> "tuple[Candidate, ...]":
    """Return the accelerators to compare, with prices and batches capped by the engine's limit.

    Args:
        target: What is sized.
        comparison: Which accelerators to compare.
        load: Expected requests.
        literal: Whether to leave batches uncapped, as upstream does.

    Raises:
        WorkbenchError: nobody says how fast the model is on any, or what was given is of another one.
    """
    from components.performance.sizing.accelerators import AcceleratorPrice, accelerator_price, known_accelerator

    found = _candidates(target, comparison, load)
    names = sorted({each.profile.accelerator for each in found})
    _check_names(comparison.cents, names, "--price")
    _check_names(comparison.accelerators, names, "--accelerator")
    priced = []
    for each in found:
        name, count = each.profile.accelerator, each.profile.count
        if comparison.accelerators and name not in comparison.accelerators:
            continue
        is_there = name == target.accelerator or (not target.accelerator and known_accelerator(name) is not None)
        nodes = target.nodes if is_there else ()
        own = comparison.cents.get(name)
        price = (
            accelerator_price(name, target.levels, nodes, count) if own is None else AcceleratorPrice(own, "--price")
        )
        candidate = replace(each, price=price)
        limit = _limit(target, candidate)
        if limit and literal:
            candidate = replace(candidate, most=limit.limit, limit=limit.reason)
        elif limit:
            candidate = candidate.within(limit.limit, limit.reason)
        priced.append(candidate)
    return tuple(priced)


def _limit(target: SizedModel, candidate: "Candidate") -> "ConcurrencyLimit | None":
    """Return the engine's limit on concurrent requests; None if the figures are not for a known engine.

    Reference figures without a workload are capped by the default of the most common engine.
    """
    from components.engines.served.behavior import default_concurrency_limit
    from components.performance.sizing.engine_limits import device_named, limit_on

    accelerator = candidate.profile.accelerator
    if target.workloads:
        return limit_on(target.workloads, accelerator, target.nodes)
    return default_concurrency_limit(device_named(accelerator)) if candidate.doubt else None


def _candidates(target: SizedModel, comparison: Comparison, load: "Load") -> "Sequence[Candidate]":
    from components.contract.problems import did_you_mean
    from components.performance.sizing.assessments import Candidate, reference_candidates
    from components.performance.sizing.reference import known_models, reference_profiles

    if comparison.profiles or target.profiles:
        source = "the command line" if comparison.profiles else target.title
        return [Candidate(each, source, each.batch) for each in comparison.profiles or target.profiles]
    found = reference_profiles(target.model)
    if not found:
        hint = did_you_mean(target.model, known_models()) or f"; there are {', '.join(known_models())}"
        raise WorkbenchError(
            f"--model: there are no reference figures of {target.model!r}{hint}; or pass your own with --profile or "
            "--profiles",
            2,
        )
    return reference_candidates(found, load)


def _check_names(given: Iterable[str], known: Sequence[str], option: str) -> None:
    """Refuse accelerators that are not among those that are compared.

    Raises:
        WorkbenchError: there is one.
    """
    from components.contract.problems import did_you_mean

    for name in given:
        if name not in known:
            hint = did_you_mean(name, known) or f"; there are {', '.join(known)}"
            raise WorkbenchError(f"{option}: {name!r} is none of the accelerators that are compared{hint}", 2)
