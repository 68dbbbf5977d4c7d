"""Routing rules of a model: one per set of header matches, and the weights of its backends.

The gateway tries rules with more headers first, then those with more exact matches, then in their order (Envoy
Gateway v1.9, internal/gatewayapi/sort.go; the Gateway API does not specify the last two). It matches only headers:
the AI gateway v1.1 gives each rule the path of all its APIs (internal/controller/ai_gateway_route.go).
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations

from ...contract.findings.ids import RuleId
from ...contract.problems import Problem, Severity
from ...fleet.endpoints import Backend, Endpoint, HeaderMatch
from ...fleet.objects import Object
from ...fleet.words import HeaderKind

MODEL_HEADER = "x-ai-eg-model"
"""The gateway sets this header to the model in the request, and routes by it."""
_MAX_HEADERS = 15
"""In addition to the model's: the Gateway API allows 16 in a match."""
_MAX_VALUE_LENGTH = 4096
_MAX_WEIGHT = 1_000_000
"""Maximum of ``BackendRef.weight`` in the Gateway API."""
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+\-.^_`|~]{1,256}")

_Signature = tuple[tuple[str, HeaderKind, str], ...]


def rules_of(endpoints: Iterable[Endpoint]) -> list[list[Endpoint]]:
    """Group the endpoints of a model by rule, in the order in which the gateway tries the rules."""
    rules: dict[_Signature, list[Endpoint]] = {}
    # As the gateway tries them; namespace and name make the order independent of the input.
    ordered = sorted(
        endpoints, key=lambda endpoint: (*_specificity(endpoint), endpoint.order, endpoint.namespace, endpoint.name)
    )
    for endpoint in ordered:
        signature = tuple(sorted((header.name.lower(), header.kind, header.value) for header in endpoint.headers))
        rules.setdefault(signature, []).append(endpoint)
    return list(rules.values())


def matches_of(model: str, endpoint: Endpoint) -> list[Object]:
    """Return the matches of a rule: the model's name and the headers."""
    named = {"type": "Exact", "name": MODEL_HEADER, "value": model}
    return [{"headers": [named, *map(_match, endpoint.headers)]}]


def _match(header: HeaderMatch) -> Object:
    # Envoy matches a regular expression against the whole value (envoy.type.matcher.v3.RegexMatcher).
    name = header.name.lower()
    if header.kind is HeaderKind.EXACT:
        return {"type": "Exact", "name": name, "value": header.value}
    pattern = f"{re.escape(header.value)}.*" if header.kind is HeaderKind.PREFIX else f".*(?:{header.value}).*"
    return {"type": "RegularExpression", "name": name, "value": pattern}


def _specificity(endpoint: Endpoint) -> tuple[int, int]:
    return -len(endpoint.headers), -sum(header.kind is HeaderKind.EXACT for header in endpoint.headers)


def check_headers(endpoints: Sequence[Endpoint]) -> Iterator[Problem]:
    """Reject header matches that the gateway does not support, and warn about those it tries in another order."""
    for endpoint in endpoints:
        yield from _refused(endpoint)
    ordered = sorted(endpoints, key=lambda endpoint: endpoint.order)
    for first, second in combinations(ordered, 2):
        same = first.origin.source is second.origin.source and first.order != second.order
        if same and _specificity(second) < _specificity(first) and not _exclude(first, second):
            reason = (
                "the gateway tries rules with more headers first, so this rule receives requests that an earlier "
                f"rule for {first.model!r} also matches; move it before that rule, or make their headers exclusive"
            )
            yield second.origin.problem(reason, Severity.WARNING, rule=RuleId.ACCESS_ROUTES_ORDER)


def _exclude(first: Endpoint, second: Endpoint) -> bool:
    """Tell whether no request can match both: they require different values of one header."""
    required = {header.name.lower(): header.value for header in first.headers if header.kind is HeaderKind.EXACT}
    exact = (header for header in second.headers if header.kind is HeaderKind.EXACT)
    return any(required.get(header.name.lower(), header.value) != header.value for header in exact)


def _refused(endpoint: Endpoint) -> Iterator[Problem]:
    seen = {MODEL_HEADER}
    for header in endpoint.headers:
        if not _HEADER_NAME.fullmatch(header.name):
            yield header.origin.problem(
                f"must be a valid header name, found {header.name!r}", rule=RuleId.ACCESS_UNROUTABLE
            )
        elif header.name.lower() in seen:
            reason = "is set by the gateway" if header.name.lower() == MODEL_HEADER else "is matched twice"
            yield header.origin.problem(
                f"{header.name!r} {reason}, which is not supported; remove it",
                rule=RuleId.ACCESS_UNROUTABLE,
            )
        if not header.value or len(_match(header)["value"]) > _MAX_VALUE_LENGTH:
            yield header.origin.problem(
                f"must have 1 to {_MAX_VALUE_LENGTH} characters; correct it, or remove the header",
                rule=RuleId.ACCESS_UNROUTABLE,
            )
        seen.add(header.name.lower())
    if len(endpoint.headers) > _MAX_HEADERS:
        reason = f"has {len(endpoint.headers)} headers, but the gateway matches at most {_MAX_HEADERS}; remove some"
        yield endpoint.origin.problem(reason, rule=RuleId.ACCESS_UNROUTABLE)


def weights_of(endpoints: Sequence[Endpoint]) -> list[int]:
    """Return the weights of the backends of a rule, endpoint by endpoint.

    Endpoints share requests in proportion to their replicas at rest, their backends by their own weights if set.
    """
    if len(endpoints) == 1 and _is_weighted(endpoints[0]):
        return [_weight(backend) for backend in endpoints[0].backends]
    backends = [backend for endpoint in endpoints for backend in endpoint.backends]
    # If all are scaled to zero, weights of 0 would reject requests even after a pod has started.
    none_runs = not any(backend.share for backend in backends)
    parts: list[Fraction] = []
    for endpoint in endpoints:
        shares = [1 if none_runs else backend.share for backend in endpoint.backends]
        if _is_weighted(endpoint):
            weights = [_weight(backend) for backend in endpoint.backends]
            parts += [Fraction(sum(shares) * weight, sum(weights) or 1) for weight in weights]
        else:
            parts += [Fraction(share) for share in shares]
    # The Gateway API takes integers: scale in the same proportion, within the maximum weight. A backend with a share
    # keeps at least 1.
    common = math.lcm(*(part.denominator for part in parts))
    numbers = [int(part * common) for part in parts]
    largest = max(numbers)
    if largest <= _MAX_WEIGHT:
        return numbers
    return [max(1, number * _MAX_WEIGHT // largest) if number else 0 for number in numbers]


def _is_weighted(endpoint: Endpoint) -> bool:
    return any(backend.weight is not None for backend in endpoint.backends)


def _weight(backend: Backend) -> int:
    return backend.weight or 0
