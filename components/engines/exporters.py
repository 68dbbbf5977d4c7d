"""Whether the engine in a container exports metrics."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from .command_line import CommandLine
from .metrics import NONE, PROMETHEUS, EngineMetrics, Metric, engine_metrics

_FALSE = ("", "0", "false", "off")


class Exporter(NamedTuple):
    """The metrics of one container.

    Attributes:
        facts: The metrics of its engine; None for an unknown engine.
        tag: Version tag of its image.
    """

    container: Mapping[str, Any]
    line: CommandLine
    facts: EngineMetrics | None
    tag: str

    @property
    def is_on(self) -> bool:
        """Whether the engine exports metrics with its arguments and variables."""
        facts = self.facts
        if facts is None or facts.exports != PROMETHEUS or self.is_off:
            return False
        if facts.flag is None or self.line.holds(facts.flag):
            return True
        variables = self.container.get("env") or []
        variable: Mapping[str, Any] = next(
            (env for env in variables if facts.env and env.get("name") == facts.env), {}
        )
        return str(variable.get("value", "")).lower() not in _FALSE

    @property
    def is_off(self) -> bool:
        """Whether an argument turns the metrics off."""
        return bool(self.facts and self.facts.off and self.line.holds(self.facts.off))

    def missing_reason(self, read: str) -> str:
        """Return the message if metrics are disabled, or an empty string.

        Args:
            read: The metrics that are read, as named in messages.
        """
        facts = self.facts
        if facts is None or facts.exports != PROMETHEUS or self.is_on:
            return ""
        if self.is_off:
            return f"has {facts.off}, which turns off {read}; remove it"
        return f"lacks {facts.flag}, without which {facts.engine} does not export {read}; add it"

    @property
    def is_known(self) -> bool:
        """Whether it is known which metrics are exported, possibly none."""
        return self.facts is not None and self.facts.exports in (PROMETHEUS, NONE)

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics of the engine's version."""
        return self.facts.of_version(self.tag) if self.facts else ()


def exporter_of(container: Mapping[str, Any], line: CommandLine) -> Exporter:
    return Exporter(container, line, engine_metrics().get(line.engine), line.tag)
