"""Whether the engine in a container exports metrics as it is started."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .command_line import CommandLine
from .metrics import NONE, PROMETHEUS, EngineMetrics, Metric, engine_metrics

_FALSE = ("", "0", "false", "off")


@dataclass(frozen=True, slots=True)
class Exporter:
    """The metrics of one container.

    Attributes:
        facts: What its engine exports; None for an engine that nothing is known of.
        tag: What names the engine's version.
    """

    container: Mapping[str, Any]
    line: CommandLine
    facts: EngineMetrics | None
    tag: str

    @property
    def is_on(self) -> bool:
        """Whether the engine exports metrics as it is started."""
        facts = self.facts
        if facts is None or facts.exports != PROMETHEUS or self.is_off:
            return False
        return facts.flag is None or self.line.holds(facts.flag) or self._by_variable(facts.env)

    @property
    def is_off(self) -> bool:
        """Whether an argument turns the metrics off."""
        return bool(self.facts and self.facts.off and self.line.holds(self.facts.off))

    def missing_reason(self, read: str) -> str:
        """Word what keeps metrics to the engine that somebody reads; empty where nothing does.

        Args:
            read: What is read, as messages name it.
        """
        facts = self.facts
        if facts is None or facts.exports != PROMETHEUS or self.is_on:
            return ""
        if self.is_off:
            return f"has {facts.off}, which turns off {read}; remove it"
        return f"lacks {facts.flag}, without which {facts.engine} does not export {read}; add it"

    @property
    def is_known(self) -> bool:
        """Whether it is known which metrics there are, be it none at all."""
        return self.facts is not None and self.facts.exports in (PROMETHEUS, NONE)

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics of the engine's version."""
        return self.facts.of_version(self.tag) if self.facts else ()

    def _by_variable(self, name: str | None) -> bool:
        variables = self.container.get("env") or []
        found: Mapping[str, Any] = next((env for env in variables if name and env.get("name") == name), {})
        return str(found.get("value", "")).lower() not in _FALSE


def exporter_of(container: Mapping[str, Any], line: CommandLine) -> Exporter:
    """Return what is known of a container's metrics."""
    return Exporter(container, line, engine_metrics().get(line.engine), line.tag)
