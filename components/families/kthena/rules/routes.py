"""Rules of ModelRoutes and of StringMatch (Kthena spec 1.4: V16)."""

from collections.abc import Iterator

from ....contract.base import Json, Rule, Violation, no_local_check
from ....contract.rules import check_parts, server_only

_Parts = Iterator[tuple[tuple[str | int, ...], Json]]

_CONDITIONS = ("exact", "prefix", "regex")


def _nameless(spec: Json) -> Iterator[Violation]:
    if not spec.model_name and not spec.lora_adapters:
        yield (), ", found neither"


_NAMED = Rule(
    "set modelName or at least one of loraAdapters: requests find a route by either",
    _nameless,
    "(has(self.modelName) && self.modelName != '') || (has(self.loraAdapters) && self.loraAdapters.size() > 0)",
)


def _empty_adapter(spec: Json) -> Iterator[Violation]:
    for index, name in enumerate(spec.lora_adapters or ()):
        if not name:
            yield ("loraAdapters", index), ""


_ADAPTERS = Rule(
    "loraAdapters must not have an empty name; remove it",
    _empty_adapter,
    "!has(self.loraAdapters) || self.loraAdapters.all(l, l != '')",
)


_NAME_STAYS = Rule(
    "modelName is immutable; delete the route and create it anew",
    no_local_check,
    "!has(oldSelf.modelName) || !has(self.modelName) || self.modelName == oldSelf.modelName",
)


def fits_int64(wire: str) -> Rule:
    """Return the CEL rule that a duration fits Go's int64; locally, its type checks that."""
    return Rule(
        f"{wire} must be a duration of less than 292 years",
        no_local_check,
        f"!has(self.{wire}) || duration(self.{wire}) <= duration('2562047h47m16.854775807s')",
    )


def _several_conditions(match: Json) -> Iterator[Violation]:
    fields = [field for field in _CONDITIONS if getattr(match, field) is not None]
    if len(fields) > 1:
        yield (), f", found {' and '.join(fields)}"


ONE_WAY = Rule(
    "set only one of exact, prefix and regex",
    _several_conditions,
    "!(has(self.exact) && (has(self.prefix) || has(self.regex))) && !(has(self.prefix) && has(self.regex))",
)


def matches(match: Json, path: tuple[str | int, ...]) -> _Parts:
    """Yield every StringMatch of a match."""
    if match is None:
        return
    if match.uri:
        yield (*path, "uri"), match.uri
    for name, header in (match.headers or {}).items():
        yield (*path, "headers", name), header


def _matches(route: Json) -> _Parts:
    for index, rule in enumerate(route.spec.rules_):
        yield from matches(rule.model_match, ("spec", "rules", index, "modelMatch"))


def _spec(route: Json) -> _Parts:
    yield ("spec",), route.spec


WHOLE = (check_parts(_NAMED, _spec), check_parts(_ADAPTERS, _spec), check_parts(ONE_WAY, _matches))
SPEC_CEL = (server_only(_NAMED), server_only(_ADAPTERS), _NAME_STAYS)
MATCH_CEL = (server_only(ONE_WAY),)
