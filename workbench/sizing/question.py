"""The question of ``workbench size``: a load, an SLO, and the accelerators to compare."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TYPE_CHECKING

from ..errors import WorkbenchError
from .inputs import parse_amount, parse_milliseconds
from .targets import SizedModel

if TYPE_CHECKING:
    from components.engines.served.behavior import ConcurrencyLimit
    from components.fleet.levels import LatencyTargets, Load
    from components.performance.sizing.assessments import Candidate, Question
    from components.performance.sizing.cases import Profile
    from components.performance.sizing.closed import ClosedLoop
    from livefleet import TokenPace

    from .estimates import EstimatedCandidate


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """Unparsed options for load and SLO; empty if not passed."""

    rate: str = ""
    users: str = ""
    think: str = ""
    input_tokens: str = ""
    output_tokens: str = ""
    slo_itl: str = ""
    slo_ttft: str = ""
    prefill_ms: str = ""
    literal: bool = False
    scale_to_zero: bool | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """The accelerators to compare.

    Attributes:
        profiles: Profiles to use instead of the known ones of the model.
        cents: Hourly price by accelerator.
        accelerators: Names of the accelerators to compare; empty for all.
    """

    profiles: "tuple[Profile, ...]" = ()
    cents: Mapping[str, Decimal] = field(default_factory=dict)
    accelerators: tuple[str, ...] = ()


def question_of(target: SizedModel, options: LoadOptions) -> "Question":
    """Combine options with the settings and the resource of the model.

    Raises:
        WorkbenchError: an option is invalid, load or SLO are missing, or the SLO cannot be met.
    """
    from components.performance.sizing.assessments import Question

    load, targets = _load(target, options), _targets(target, options)
    prefill = parse_milliseconds(options.prefill_ms, "--prefill-ms") if options.prefill_ms else None
    if targets.ttft_ms and prefill is not None and prefill >= targets.ttft_ms:
        raise WorkbenchError(
            f"--prefill-ms: with a prefill time of {prefill} ms, no number of replicas meets the TTFT target of "
            f"{targets.ttft_ms} ms"
        )
    to_zero = target.scale_to_zero if options.scale_to_zero is None else options.scale_to_zero
    loop = _loop(options, targets, prefill)
    return Question(
        targets=targets,
        load=load,
        prefill_ms=prefill,
        accelerator=target.accelerator,
        literal=options.literal,
        scale_to_zero=to_zero,
        loop=loop,
    )


_MOST_USERS = Decimal(1_000_000)
_LEAST_THINK_S, _MOST_THINK_S = Decimal("0.001"), Decimal(86_400)


def _loop(options: LoadOptions, targets: "LatencyTargets", prefill: int | None) -> "ClosedLoop | None":
    """Return the users who send the requests; None if the load is a rate."""
    from components.performance.sizing.closed import ClosedLoop

    if not options.users:
        if options.think:
            raise WorkbenchError("--think: needs --users; with --rate, requests arrive independently of answers", 2)
        return None
    for option, value in (("--rate", options.rate), ("--literal", options.literal)):
        if value:
            raise WorkbenchError(f"--users and {option} cannot be used together", 2)
    if options.scale_to_zero:
        raise WorkbenchError("--users and --scale-to-zero cannot be used together: users send requests", 2)
    users = parse_amount(options.users, "--users", "a whole number of users such as 50", least=Decimal(1))
    if users % 1 or users > _MOST_USERS:
        raise WorkbenchError(f"--users: must be whole users from 1 to {_MOST_USERS}, found {options.users!r}", 2)
    think = parse_amount(options.think or "0", "--think", "seconds such as 20")
    if think > _MOST_THINK_S or 0 < think < _LEAST_THINK_S:
        allowed = f"0, or from {_LEAST_THINK_S} to {_MOST_THINK_S} seconds"
        raise WorkbenchError(f"--think: must be {allowed}, found {options.think!r}", 2)
    if not (targets.itl_ms or targets.ttft_ms):
        raise WorkbenchError(
            "--users: without a target, one replica serves any number; pass --itl, --ttft or both", 2
        )
    return ClosedLoop(int(users), float(think), float(prefill or 0))


def _load(target: SizedModel, options: LoadOptions) -> "Load":
    """Return the load; options take precedence over settings. The rate of users follows from each accelerator."""
    from components.fleet.levels import Load

    def parse(text: str, default: Decimal, option: str, description: str, least: int = 0) -> Decimal:
        return parse_amount(text, option, description, least=Decimal(least)) if text else default

    default = target.load or Load(Decimal(-1), Decimal(-1))  # negative: unknown
    load = Load(
        Decimal(0)
        if options.users
        else parse(options.rate, default.per_minute, "--rate", "requests per minute such as 480"),
        parse(options.output_tokens, default.output_tokens, "--output-tokens", "mean output tokens such as 256", 1),
        parse(options.input_tokens, default.input_tokens, "--input-tokens", "mean input tokens such as 512"),
    )
    missing = [
        option
        for option, value in (("--rate", load.per_minute), ("--output-tokens", load.output_tokens))
        if value < 0
    ]
    if missing:
        settings = f", or set {target.hint}" if target.hint else ""
        raise WorkbenchError(f"the load of {target.title} is unknown; pass {' and '.join(missing)}{settings}", 2)
    return load


def _targets(target: SizedModel, options: LoadOptions) -> "LatencyTargets":
    """Return the SLO; options take precedence over the service class."""
    from components.fleet.levels import LatencyTargets

    classes = target.levels.classes_of(target.model)
    if len(classes) > 1 and not (options.slo_itl and options.slo_ttft):
        names = ", ".join(level.name for level in classes)
        raise WorkbenchError(
            f"serviceLevels.classes: {target.model!r} is in several classes: {names}; keep it in one, or pass "
            "--slo-itl and --slo-ttft",
            2,
        )
    if not (options.slo_itl or options.slo_ttft or classes):
        raise WorkbenchError(
            f"{target.title} has no SLO; pass --slo-itl, --slo-ttft or both in milliseconds (0 for none), or add it "
            "to one of serviceLevels.classes and pass --stack",
            2,
        )
    targets = classes[0].targets[target.model] if classes else LatencyTargets()
    if options.slo_itl:
        targets = replace(targets, itl_ms=parse_milliseconds(options.slo_itl, "--slo-itl"))
    if options.slo_ttft:
        targets = replace(targets, ttft_ms=parse_milliseconds(options.slo_ttft, "--slo-ttft"))
    return targets


def candidates_of(target: SizedModel, comparison: Comparison, question: "Question") -> "tuple[Candidate, ...]":
    """Return the accelerators to compare, with prices and batches capped by the engine's limit.

    Args:
        target: The model to size.
        comparison: Options for the comparison.
        question: The load; with ``literal``, batches are left uncapped, as upstream does.

    Raises:
        WorkbenchError: the model has no profile, or an option names an accelerator that is not compared.
    """
    from components.performance.sizing.accelerators import AcceleratorPrice, accelerator_price, known_accelerator

    unpriced = _candidates(target, comparison, question)
    names = sorted({candidate.profile.accelerator for candidate in unpriced})
    _check_names(comparison.cents, names, "--price")
    _check_names(comparison.accelerators, names, "--accelerator")
    candidates = []
    for candidate in unpriced:
        name, count = candidate.profile.accelerator, candidate.profile.count
        if comparison.accelerators and name not in comparison.accelerators:
            continue
        is_current = name == target.accelerator or (not target.accelerator and known_accelerator(name) is not None)
        nodes = target.nodes if is_current else ()
        own = comparison.cents.get(name)
        price = (
            accelerator_price(name, target.levels, nodes, count) if own is None else AcceleratorPrice(own, "--price")
        )
        candidate = replace(candidate, price=price)
        limit = _limit(target, candidate)
        if limit and question.literal:
            candidate = replace(candidate, most=limit.limit, limit=limit.reason)
        elif limit:
            candidate = candidate.within(limit.limit, limit.reason)
        candidates.append(candidate)
    return tuple(candidates)


def _limit(target: SizedModel, candidate: "Candidate") -> "ConcurrencyLimit | None":
    """Return the engine's limit on concurrent requests; None if the engine is unknown.

    Reference figures without a workload are capped by the default of the most common engine.
    """
    from components.engines.served.behavior import default_concurrency_limit
    from components.performance.sizing.engine_limits import device_named, limit_on

    accelerator = candidate.profile.accelerator
    if target.workloads:
        return limit_on(target.workloads, accelerator, target.nodes)
    return default_concurrency_limit(device_named(accelerator)) if candidate.doubt else None


def _candidates(target: SizedModel, comparison: Comparison, question: "Question") -> "Sequence[Candidate]":
    from components.contract.problems import did_you_mean
    from components.performance.sizing.assessments import Candidate, reference_candidates
    from components.performance.sizing.reference import known_models, reference_profiles

    if comparison.profiles or target.profiles:
        source = "the command line" if comparison.profiles else target.title
        return [Candidate(profile, source, profile.batch) for profile in comparison.profiles or target.profiles]
    references = reference_profiles(target.model)
    if not references:
        if estimates := _estimates(target, question):
            return [estimated.candidate for estimated in estimates]
        hint = did_you_mean(target.model, known_models()) or f"; available: {', '.join(known_models())}"
        raise WorkbenchError(
            f"--model: no reference figures for {target.model!r}{hint}; or pass --profile or --profiles",
            2,
        )
    return reference_candidates(references, question.load)


def estimated_paces(
    target: SizedModel, comparison: Comparison, question: "Question"
) -> "dict[tuple[str, int], TokenPace]":
    """Return the paces of candidates that are estimates, by accelerator and number of them; none for the others."""
    from components.performance.sizing.reference import reference_profiles

    if comparison.profiles or target.profiles or reference_profiles(target.model):
        return {}
    profiles = {each: each.candidate.profile for each in _estimates(target, question)}
    return {(profile.accelerator, profile.count): each.pace for each, profile in profiles.items()}


def _estimates(target: SizedModel, question: "Question") -> "Sequence[EstimatedCandidate]":
    from .estimates import estimated_candidates

    return estimated_candidates(target.model, question.load, question.prefill_ms, question.targets.itl_ms)


def _check_names(names: Iterable[str], known: Sequence[str], option: str) -> None:
    """Reject accelerators that are not compared."""
    from components.contract.problems import did_you_mean

    for name in names:
        if name not in known:
            hint = did_you_mean(name, known) or f"; available: {', '.join(known)}"
            raise WorkbenchError(f"{option}: {name!r} is not among the compared accelerators{hint}", 2)
