"""What a ModelRoute asks for, whether somebody wrote it or a ModelBooster stands for it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ....contract.findings.collector import Findings
from ....fleet.options import Options
from ....fleet.origins import Origin, ProblemSource
from ..types.networking import ModelMatch, RouteRule, StringMatch


@dataclass(frozen=True, slots=True)
class AskedRule:
    """Requests that match go to the targets.

    Attributes:
        path: The field that it is in.
        name: What it is called; empty without a name.
        headers: What headers of a request must be.
        uri: What its path must be; None for any.
        model: What it must ask for; None for anything.
        targets: Names of ModelServers, and the weight of each.
    """

    path: str
    name: str
    headers: Mapping[str, StringMatch]
    uri: StringMatch | None
    model: str | None
    targets: tuple[tuple[str, int], ...]

    @classmethod
    def of(
        cls,
        index: int,
        name: str,
        match: ModelMatch | None,
        targets: tuple[tuple[str, int], ...],
        model: str | None = None,
    ) -> "AskedRule":
        """Return a rule of a route; for requests for a model, if one is given, whatever the match says of it."""
        path = rule_path(index)
        if match is None:
            return cls(path, name, {}, None, model, targets)
        asked = match.body.model if match.body and model is None else model
        return cls(path, name, match.headers or {}, match.uri, asked, targets)


def rule_path(index: int) -> str:
    """Return the field of a rule."""
    return f"spec.rules[{index}]"


def rule_of(index: int, rule: RouteRule) -> AskedRule:
    """Return a rule that is written."""
    targets = tuple((target.model_server_name, target.weight) for target in rule.target_models)
    return AskedRule.of(index, rule.name or "", rule.model_match, targets)


@dataclass(frozen=True, slots=True)
class AskedRoute:
    """A ModelRoute, and how to render it.

    Attributes:
        whole: What has its fields.
        model: What clients may ask for; empty where adapters alone lead to it.
        lora_adapters: Names of adapters as they are written.
        adapters: Names of adapters that it leads to (:func:`adapters_beside`).
        limited: Whether it counts tokens.
    """

    whole: ProblemSource
    name: str
    namespace: str
    model: str
    lora_adapters: tuple[str, ...]
    adapters: tuple[str, ...]
    rules: tuple[AskedRule, ...]
    options: Options
    findings: Findings
    limited: bool = False

    def origin(self, path: str = "") -> Origin:
        """Return one of its fields; itself for no path."""
        return Origin(self.whole, path)

    @property
    def models(self) -> tuple[str, ...]:
        """What clients may ask for, its model first."""
        return (self.model, *self.adapters) if self.model else self.adapters


def adapters_beside(model: str, names: Iterable[str]) -> tuple[str, ...]:
    """Return the adapters that a route leads to; one that is called like its model never counts."""
    return tuple(name for name in dict.fromkeys(names) if name != model)
