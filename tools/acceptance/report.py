"""The report of a run, without anything that identifies the account."""

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

_REDACTED = (
    (re.compile(r"\b\d{12}\b"), "<account>"),
    (re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}(?:/\d{1,2})?\b"), "<address>"),
    (re.compile(r"\b[\w.-]+\.(?:elb|eks|compute|internal)[\w.-]*"), "<host>"),
    (re.compile(r"\b(i|vol|eni|sg|subnet|vpc|lt|nat|eipalloc|igw|rtb|vpce)-[0-9a-f]{8,17}\b"), r"\1-<id>"),
    (re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"), "<key>"),
    (re.compile(r"(?:/[\w.@+-]+){2,}/(?=[\w.-])"), "<folder>/"),
)


@dataclass(frozen=True)
class StepResult:
    """What a step did.

    Attributes:
        name: Name of the step.
        passed: Whether it did what it must.
        seconds: Its duration.
        detail: What was seen, in one line.
    """

    name: str
    passed: bool
    seconds: float
    detail: str


@dataclass(frozen=True)
class AcceptanceReport:
    """A run: versions, results, and the estimated cost at most."""

    region: str
    versions: dict[str, str]
    results: Sequence[StepResult]
    usd_at_most: float

    @property
    def passed(self) -> bool:
        """Whether every step passed."""
        return all(result.passed for result in self.results)

    def write(self, folder: Path) -> None:
        """Write ``report.json`` and ``report.md``, both redacted."""
        (folder / "report.json").write_text(json.dumps(self._redacted(), indent=2) + "\n", encoding="utf-8")
        (folder / "report.md").write_text(self._markdown(), encoding="utf-8")

    def _redacted(self) -> dict[str, object]:
        steps = [asdict(result) | {"detail": redacted(result.detail)} for result in self.results]
        return {
            "passed": self.passed,
            "region": self.region,
            "versions": {name: redacted(version) for name, version in self.versions.items()},
            "usdAtMost": round(self.usd_at_most, 2),
            "steps": steps,
        }

    def _markdown(self) -> str:
        lines = [
            f"# Acceptance on AWS: {'passed' if self.passed else 'failed'}",
            "",
            f"Region {self.region}; at most {self.usd_at_most:.2f} USD, estimated.",
            *(f"{name}: {redacted(version)}" for name, version in self.versions.items()),
            "",
            "| step | result | minutes | detail |",
            "|---|---|--:|---|",
        ]
        for result in self.results:
            detail = redacted(result.detail).replace("|", "\\|").replace("\n", " ")
            outcome = "passed" if result.passed else "failed"
            lines.append(f"| {result.name} | {outcome} | {result.seconds / 60:.1f} | {detail} |")
        return "\n".join([*lines, ""])


def redacted(text: str) -> str:
    """Replace account numbers, addresses, host names, identifiers of resources, access keys and folders."""
    for pattern, replacement in _REDACTED:
        text = pattern.sub(replacement, text)
    return text
