"""Rules of ModelBoosters across fields (Kthena spec 1.4: V1, V2, V4 to V8; D-29).

Upstream has them in an admission webhook that is never called until v0.1.0. Here they are checked locally and, as
CEL, by the API server. The local rules follow the form of the booster; those for the API server, its releases.
"""

from collections.abc import Iterator
from dataclasses import replace

from ....contract.base import Json, Rule, Violation
from ....contract.releases import Span
from ....contract.rules import check_parts, server_only, unique_names
from ....contract.texts.go_durations import nanoseconds_of
from ..prices import backend_cost
from .policies import BOUNDS, MAX_REPLICAS, POLICY
from .routes import ONE_WAY, matches

_Parts = Iterator[tuple[tuple[str | int, ...], Json]]

_GRACE_SECONDS = 1800
_PAIR = ("prefill", "decode")
_ONE_SERVER = ("vLLM", "SGLang", "MindIE")
_MINDIE = ("prefill", "decode", "controller", "coordinator")


_SEVERAL = Span(until="v0.1.0")
"""The releases with several backends."""
_ONE = Span("v0.2.0", "v0.4.0")
"""The releases with one backend and a policy."""
_BOUNDED = Span(until="v0.4.0")
"""The releases whose backends have bounds."""


def _backends(booster: Json) -> _Parts:
    for path, backend in _in_spec(booster.spec):
        yield ("spec", *path), backend


def _in_spec(spec: Json) -> _Parts:
    if spec.backend:
        yield ("backend",), spec.backend
    for index, backend in enumerate(spec.backends or ()):
        yield ("backends", index), backend


def _policies(booster: Json) -> _Parts:
    if booster.spec.autoscaling_policy is not None:
        yield ("spec", "autoscalingPolicy"), booster.spec.autoscaling_policy
    for path, backend in _backends(booster):
        if backend.autoscaling_policy is not None:
            yield (*path, "autoscalingPolicy"), backend.autoscaling_policy


def _matches(booster: Json) -> _Parts:
    return matches(booster.spec.model_match, ("spec", "modelMatch"))


def _spec(booster: Json) -> _Parts:
    yield ("spec",), booster.spec


def _form_broken(spec: Json) -> Iterator[Violation]:
    if spec.backend is None and spec.backends is None:
        yield ("backends",), "is required; since v0.2.0, backend takes its place"
    elif spec.backend is not None and spec.backends is not None:
        yield ("backends",), "must not be set together with backend, which takes its place since v0.2.0; remove one"


_FORM = Rule("", _form_broken, "")
"""Without CEL: no release has both fields."""


def _inline_targets(policy: Json) -> Iterator[Violation]:
    for attribute, wire in (
        ("homogeneous_target", "homogeneousTarget"),
        ("heterogeneous_target", "heterogeneousTarget"),
        ("disaggregated_target", "disaggregatedTarget"),
    ):
        if getattr(policy, attribute) is not None:
            yield (wire,), ""


_UNTARGETED = Rule(
    "must be absent in a booster, whose policy scales its own backends; remove it, or write an AutoscalingPolicy",
    _inline_targets,
    "",
)
"""Without CEL: no release has both the policy of a booster and targets of policies."""

# Rules of a backend


def _replicas_broken(backend: Json) -> Iterator[Violation]:
    bounds = {"minReplicas": backend.min_replicas, "maxReplicas": backend.max_replicas}
    missing = [field for field, value in bounds.items() if value is None]
    if backend.replicas is None and len(missing) == len(bounds):
        yield ("minReplicas",), "is required with maxReplicas; since v1.0.0, replicas takes their place"
    elif backend.replicas is None:
        yield from (((field,), "is required; set it") for field in missing)
    elif len(missing) < len(bounds):
        yield (
            ("replicas",),
            "must not be set together with minReplicas and maxReplicas, in whose place it is since v1.0.0",
        )


_REPLICAS = Rule("", _replicas_broken, "")
"""Without CEL: no release has all three fields."""


def _grace_broken(backend: Json) -> Iterator[Violation]:
    period = backend.scale_to_zero_grace_period
    if period is not None and not 0 <= nanoseconds_of(period) <= _GRACE_SECONDS * 10**9:
        yield ("scaleToZeroGracePeriod",), f", found {period!r}"


GRACE = Rule(
    f"scaleToZeroGracePeriod must be from 0s to {_GRACE_SECONDS}s",
    _grace_broken,
    "!has(self.scaleToZeroGracePeriod) || (duration(self.scaleToZeroGracePeriod) >= duration('0s') && "
    f"duration(self.scaleToZeroGracePeriod) <= duration('{_GRACE_SECONDS}s'))",
)


def _worker_broken(backend: Json) -> Iterator[Violation]:
    types = [worker.type for worker in backend.workers]
    if backend.type in _ONE_SERVER and types != ["server"]:
        yield ("workers",), f", found {', '.join(types)}"


ONE_SERVER = Rule(
    "workers must be exactly one of type server for vLLM, SGLang and MindIE: a second one would be ignored",
    _worker_broken,
    "!(self.type in ['vLLM', 'SGLang', 'MindIE']) || (self.workers.size() == 1 && self.workers[0].type == 'server')",
)


def _pair_broken(backend: Json) -> Iterator[Violation]:
    types = [worker.type for worker in backend.workers]
    if backend.type == "vLLMDisaggregated" and sorted(types) != sorted(_PAIR):
        yield ("workers",), f", found {', '.join(types)}"


PAIR = Rule(
    "workers must be exactly one of type prefill and one of type decode for vLLMDisaggregated",
    _pair_broken,
    "self.type != 'vLLMDisaggregated' || (self.workers.size() == 2 && self.workers.exists(w, w.type == 'prefill') "
    "&& self.workers.exists(w, w.type == 'decode'))",
)


def _mindie_broken(backend: Json) -> Iterator[Violation]:
    for index, worker in enumerate(backend.workers):
        if backend.type == "MindIEDisaggregated" and worker.type not in _MINDIE:
            yield ("workers", index, "type"), f", found {worker.type!r}"


MINDIE = Rule(
    f"type must be one of {', '.join(_MINDIE)} for a worker of MindIEDisaggregated",
    _mindie_broken,
    "self.type != 'MindIEDisaggregated' || self.workers.all(w, w.type != 'server')",
)


def _adapters_broken(backend: Json) -> Iterator[Violation]:
    return unique_names(backend.lora_adapters, "loraAdapters")


ADAPTERS = Rule("", _adapters_broken, "")
"""Without CEL: for the API server, the field is a list map keyed by name."""

_OF_BACKEND = (_REPLICAS, BOUNDS, GRACE, ONE_SERVER, PAIR, MINDIE, ADAPTERS)
_BACKEND_SPANS = {BOUNDS.message: _BOUNDED, GRACE.message: _SEVERAL}

# Rules of all backends


def _names_broken(spec: Json) -> Iterator[Violation]:
    return unique_names(spec.backends, "backends")


def _total_broken(spec: Json) -> Iterator[Violation]:
    total = sum(backend.max_replicas or 0 for backend in spec.backends or ())
    if total > MAX_REPLICAS:
        yield ("backends",), f", found {total}"


TOTAL = Rule(
    f"backends must have maxReplicas of at most {MAX_REPLICAS} in sum",
    _total_broken,
    f"self.backends.map(b, b.maxReplicas).sum() <= {MAX_REPLICAS}",
)


def _both_broken(spec: Json) -> Iterator[Violation]:
    if spec.autoscaling_policy is None:
        return
    for path, backend in _in_spec(spec):
        if backend.autoscaling_policy is not None:
            yield (*path, "autoscalingPolicy"), ""


ONE_LEVEL = Rule(
    "autoscalingPolicy must not be set for a backend together with spec.autoscalingPolicy: keep the one of the whole "
    "model to share a load among backends, or those of the backends to scale each by itself",
    _both_broken,
    "!has(self.autoscalingPolicy) || !self.backends.exists(b, has(b.autoscalingPolicy))",
)


def _cost_unread(spec: Json) -> Iterator[Violation]:
    if spec.autoscaling_policy is not None:
        return
    for path, backend in _in_spec(spec):
        if backend.scaling_cost:
            yield (*path, "scalingCost"), f", found {backend.scaling_cost}"


COST_UNREAD = Rule(
    "scalingCost must be 0 or absent without spec.autoscalingPolicy, the only one that reads it; remove it, or set "
    "the policy there instead of at the backends",
    _cost_unread,
    "has(self.autoscalingPolicy) || !self.backends.exists(b, has(b.scalingCost) && b.scalingCost != 0)",
)


def _grace_unread(spec: Json) -> Iterator[Violation]:
    if spec.autoscaling_policy is not None:
        return
    for path, backend in _in_spec(spec):
        if backend.scale_to_zero_grace_period is not None:
            yield (*path, "scaleToZeroGracePeriod"), ""


GRACE_UNREAD = Rule(
    "scaleToZeroGracePeriod must be absent without spec.autoscalingPolicy; remove it",
    _grace_unread,
    "has(self.autoscalingPolicy) || !self.backends.exists(b, has(b.scaleToZeroGracePeriod))",
)


def _rate_unread(spec: Json) -> Iterator[Violation]:
    if spec.autoscaling_policy is None and spec.cost_expansion_rate_percent is not None:
        yield ("costExpansionRatePercent",), ""


RATE_UNREAD = Rule(
    "costExpansionRatePercent must be absent without spec.autoscalingPolicy, the only one that reads it; remove it",
    _rate_unread,
    "has(self.autoscalingPolicy) || !has(self.costExpansionRatePercent)",
)


def _stopped_broken(spec: Json) -> Iterator[Violation]:
    if spec.autoscaling_policy is not None:
        return
    for path, backend in _in_spec(spec):
        if backend.autoscaling_policy is not None and backend.min_replicas == 0:
            yield (*path, "minReplicas"), f", found {backend.min_replicas}"


NEVER_STOPPED = Rule(
    "minReplicas must be at least 1 for a backend with a policy of its own: without pods there is nothing to measure",
    _stopped_broken,
    "has(self.autoscalingPolicy) || !self.backends.exists(b, has(b.autoscalingPolicy) && b.minReplicas < 1)",
)


def _fixed_broken(spec: Json) -> Iterator[Violation]:
    if spec.autoscaling_policy or any(backend.autoscaling_policy for _, backend in _in_spec(spec)):
        return
    for path, backend in _in_spec(spec):
        least, most = backend.min_replicas, backend.max_replicas
        if least is not None and most is not None and least < most:
            yield (*path, "minReplicas"), f", found {least} and {most}"


FIXED = Rule(
    "minReplicas must equal maxReplicas where nothing scales; make them equal, or set an autoscalingPolicy",
    _fixed_broken,
    "has(self.autoscalingPolicy) || self.backends.exists(b, has(b.autoscalingPolicy)) || "
    "self.backends.all(b, b.minReplicas >= b.maxReplicas)",
)


def _cost_missing(spec: Json) -> Iterator[Violation]:
    if spec.autoscaling_policy is None:
        return
    # One backend alone shares its load with none, so its cost does not matter.
    for index, backend in enumerate(spec.backends or ()):
        if not backend.scaling_cost:
            cost = backend_cost(backend)
            known = f"; by the price of its nodes that is {cost}" if cost else ""
            yield ("backends", index, "scalingCost"), f", found {backend.scaling_cost}{known}"


COST_MISSING = Rule(
    "scalingCost must be at least 1 with spec.autoscalingPolicy, which fills the cheapest backend first; set what a "
    "replica costs, such as its price in cents per hour",
    _cost_missing,
    "!has(self.autoscalingPolicy) || self.backends.all(b, has(b.scalingCost) && b.scalingCost != 0)",
)


def _all_stopped(spec: Json) -> Iterator[Violation]:
    backends = [backend.min_replicas for backend in spec.backends or ()]
    if spec.autoscaling_policy is not None and backends and not any(backends):
        yield ("backends",), ", found 0"


ONE_RUNS = Rule(
    "backends must have minReplicas of at least 1 in sum with spec.autoscalingPolicy: without pods there is nothing "
    "to measure",
    _all_stopped,
    "!has(self.autoscalingPolicy) || self.backends.exists(b, b.minReplicas > 0)",
)

_ONE_FIXED = Rule(
    FIXED.message,
    _fixed_broken,
    "has(self.autoscalingPolicy) || self.backend.minReplicas >= self.backend.maxReplicas",
    span=_ONE,
)

_OF_SPEC = (
    TOTAL, ONE_LEVEL, COST_UNREAD, GRACE_UNREAD, RATE_UNREAD, NEVER_STOPPED, FIXED, COST_MISSING, ONE_RUNS
)  # fmt: skip

# Rules of the whole resource


def _adapter_is_model(booster: Json) -> Iterator[Violation]:
    name = booster.metadata.name
    for path, backend in _backends(booster):
        for index, adapter in enumerate(backend.lora_adapters or ()):
            if adapter.name == name:
                yield (*path, "loraAdapters", index, "name"), f", found {name!r}"


ADAPTER_NAMES = Rule(
    "name must not be metadata.name for an adapter: requests for the model and for it could not be told apart",
    _adapter_is_model,
    "!self.spec.backends.exists(b, has(b.loraAdapters) && b.loraAdapters.exists(l, l.name == self.metadata.name))",
    span=_SEVERAL,
)

WHOLE = (
    check_parts(_FORM, _spec),
    check_parts(Rule("", _names_broken, ""), _spec),
    *(check_parts(rule, _spec) for rule in _OF_SPEC),
    *(check_parts(rule, _backends) for rule in _OF_BACKEND),
    *(check_parts(rule, _policies) for rule in (_UNTARGETED, *POLICY)),
    check_parts(ONE_WAY, _matches),
    Rule(ADAPTER_NAMES.message, _adapter_is_model, ""),
    server_only(ADAPTER_NAMES),
)
SPEC_CEL = tuple(map(server_only, (*(replace(rule, span=_SEVERAL) for rule in _OF_SPEC), _ONE_FIXED)))
BACKEND_CEL = tuple(server_only(replace(rule, span=_BACKEND_SPANS.get(rule.message))) for rule in _OF_BACKEND)
