"""Releases of an API: which exist, and which of them have a field, a value, a rule or a kind.

A type of the contract is the superset of all releases of its API. Fields that only some releases have, or have with
other constraints, are annotated with a :class:`Span` for each of the forms:

    backends: Annotated[list[Backend] | None, Span(until="v0.1.0", required=True)] = None
    mode: Annotated[Literal["a", "b"], Span(until="v0.2.0", enum=["a"]), Span(since="v0.3.0")] = "a"

The names of releases are ordered by :class:`Releases`, not by their text.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pydantic import GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

SPANS = "x-spans"
"""Keyword of a field's JSON schema that holds its spans."""
SPAN = "x-span"
"""Keyword of a rule that holds its span."""
SINCE = "x-since"
"""Keyword of a field of Kubernetes that holds the first minor version of Kubernetes with it."""


class Span:
    """Consecutive releases, and what a field is in them.

    Args:
        since: The first release; empty for the oldest.
        until: The last release; empty for the newest.
        required: Whether a writer must set the field; None if the type says so.
        schema: Keywords that replace those of the field's JSON schema; None removes a keyword.
    """

    def __init__(
        self,
        since: str = "",
        until: str = "",
        *,
        required: bool | None = None,
        **schema: Any,  # noqa: ANN401  JSON
    ) -> None:
        self.since = since
        self.until = until
        self.required = required
        self.schema: Mapping[str, Any] = schema

    def __repr__(self) -> str:
        return f"Span({self.since!r}, {self.until!r})"

    def __get_pydantic_json_schema__(self, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Add the span to the spans of the field."""
        schema = handler(core_schema)
        return schema | {SPANS: [*schema.get(SPANS, ()), self.as_json()]}

    def as_json(self) -> dict[str, Any]:
        return {"since": self.since, "until": self.until, "required": self.required, "schema": dict(self.schema)}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Span":
        return cls(value["since"], value["until"], required=value["required"], **value["schema"])


class Release(NamedTuple):
    """One release of an upstream project.

    Attributes:
        name: Its tag, or the commit if it has none.
        date: Day of the release.
        operator: Version of the chart that installs its operator; empty if it has no chart.
        kubernetes: The minor version of Kubernetes whose types its definitions embed; empty if they embed none.
    """

    name: str
    date: str = ""
    operator: str = ""
    kubernetes: str = ""

    def embeds(self, since: str) -> bool:
        """Whether its definitions have the fields that Kubernetes has since a minor version."""
        return not self.kubernetes or _minor(since) <= _minor(self.kubernetes)


def _minor(version: str) -> int:
    return int(version.partition(".")[2])


@dataclass(frozen=True, slots=True, eq=False)
class Releases:
    """The releases of an upstream project, oldest first. Compared by identity: they are keys of caches.

    Attributes:
        family: Key of the setting ``releases``.
        project: Name of the project, for messages.
        contract: The release that operators are installed in, and whose defaults apply, unless another one is set.
        embeds_metadata: Whether definitions have the fields of metadata within pods: those of ephemeral claims.
    """

    family: str = ""
    project: str = ""
    contract: str = ""
    releases: tuple[Release, ...] = ()
    embeds_metadata: bool = True
    _order: Mapping[str, int] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Number the releases."""
        order = {release.name: index for index, release in enumerate(self.releases)}
        object.__setattr__(self, "_order", order)

    @classmethod
    def from_table(cls, family: str, table: Mapping[str, Any]) -> "Releases":
        """Read ``releases.yaml`` of a family."""
        releases = tuple(
            Release(
                name=row["name"],
                date=str(row.get("date", "")),
                operator=str(row.get("operator", "")),
                kubernetes=row.get("kubernetes", table.get("kubernetes", "")),
            )
            for row in table["releases"]
        )
        return cls(
            family=family,
            project=table["project"],
            contract=table["contract"],
            releases=releases,
            embeds_metadata=table.get("embedsMetadata", True),
        )

    @property
    def names(self) -> list[str]:
        return list(self._order)

    @property
    def newest(self) -> str:
        return self.releases[-1].name if self.releases else ""

    def find(self, name: str) -> Release:
        """Return a release.

        Raises:
            KeyError: the project has no such release.
        """
        return self.releases[self._order[name]]

    def title(self, release: str) -> str:
        """Return the project with a release, such as ``Example v1.2``."""
        return f"{self.project} {release}"

    def choosing(self, release: str = "") -> str:
        """Return how to choose a release, for a message: in settings, in a component and on the command line.

        Args:
            release: The release; empty if another part of the message describes it.
        """
        if not release:
            return f"releases.{self.family}, a component's argument release, or --release {self.family}=RELEASE"
        setting = f"releases: {{{self.family}: {release}}}"
        return f"{setting}, a component's argument release: {release}, or --release {self.family}={release}"

    def covers(self, span: Span, release: str) -> bool:
        """Whether a release is in a span."""
        order = self._order
        return order.get(span.since, 0) <= order[release] <= order.get(span.until, len(order))

    def of_spans(self, spans: Iterable[Span]) -> list[str]:
        """Return the releases in any of the spans, oldest first."""
        spans = list(spans)
        return [name for name in self._order if any(self.covers(span, name) for span in spans)]

    def between(self, origin: str, target: str) -> list[str]:
        """Return the releases from one to another, both included; from the newer to the older if it is so."""
        first, last = self._order[origin], self._order[target]
        names = self.names
        return names[first : last + 1] if first <= last else names[last : first + 1][::-1]


def described(names: Sequence[str], releases: Releases) -> str:
    """Return releases for a message: consecutive ones as a range, such as ``v0.1.0 to v0.3.0 and v1.0.0``."""
    return " and ".join(run[0] if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in _runs(names, releases.names))


def _runs(names: Sequence[str], order: Sequence[str]) -> Iterator[list[str]]:
    run: list[str] = []
    for name in order:
        if name in names:
            run.append(name)
        elif run:
            yield run
            run = []
    if run:
        yield run
