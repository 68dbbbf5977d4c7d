"""Findings as a log in SARIF 2.1.0, which editors and code hosts show on the line.

OASIS, SARIF version 2.1.0 Plus Errata 01. What GitHub reads of it, and how much: its pages "SARIF support for code
scanning" and "SARIF results exceed limit".
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Protocol

from .registry import RuleInfo, rules

_Json = dict[str, Any]

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
MOST_RESULTS = 25_000
"""Of a run: GitHub refuses a file with more."""
_ORDER = ("error", "warning", "note")
_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/")
"""What a path in a URI has as it is (RFC 3986, unreserved)."""
_PLACEHOLDER = re.compile(r"\{(\d+)\}")
_GRADES = {"error": "error", "warning": "warning", "note": "recommendation"}
"""GitHub's own words, by which it sorts alerts (``properties.problem.severity``)."""


_NO_STATES: Mapping[Any, str] = MappingProxyType({})


class ReportedFinding(Protocol):
    """A finding, as reports have it."""

    @property
    def rule(self) -> str:
        """Its rule."""

    @property
    def severity(self) -> str:
        """``error``, ``warning`` or ``note``."""

    @property
    def file(self) -> str:
        """Where it is; in ``<>`` where that is no file."""

    @property
    def line(self) -> int:
        """Its line; 0 without one."""

    @property
    def kind(self) -> str:
        """Of the resource; empty for settings."""

    @property
    def name(self) -> str:
        """Of the resource."""

    @property
    def path(self) -> str:
        """Its field."""

    @property
    def reason(self) -> str:
        """What is wrong."""

    @property
    def ignored(self) -> str:
        """Why it does not count; empty where it does."""


def sarif(
    findings: Iterable[ReportedFinding],
    version: str,
    *,
    folder: str = "",
    documentation: str = "",
    states: Mapping[Any, str] = _NO_STATES,
) -> _Json:
    """Return the log of a run.

    Args:
        findings: What was found; the same in the same order give the same log.
        version: Of the package.
        folder: What stands before relative files, where findings are of a folder within a repository.
        documentation: Address of the folder that has ``docs``, ending in a slash; without one rules have no link.
        states: What each finding is beside another revision: ``new``, ``unchanged`` or ``updated`` (3.27.24). Either
            all findings have one or none has.
    """
    found = list(findings)
    kept = sorted(found, key=lambda each: _ORDER.index(each.severity))[:MOST_RESULTS]
    named = {each.rule for each in kept}
    used = [info for id_, info in rules().items() if id_ in named]
    places = {str(info.id): place for place, info in enumerate(used)}
    marks = _fingerprints(kept)
    driver: _Json = {"name": "inference-platform", "semanticVersion": _semantic(version)}
    driver["rules"] = [_rule(info, documentation) for info in used]
    results = [_result(each, places[each.rule], mark, folder) for each, mark in zip(kept, marks, strict=True)]
    if states:
        for each, result in zip(kept, results, strict=True):
            result["baselineState"] = states[each]
    run: _Json = {"tool": {"driver": driver}, "results": results}
    if len(kept) < len(found):
        text = f"{len(found) - len(kept)} of {len(found)} findings are left out, the least severe ones"
        notice = {"level": "warning", "message": {"text": text}}
        run["invocations"] = [{"executionSuccessful": True, "toolExecutionNotifications": [notice]}]
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _semantic(version: str) -> str:
    """Return a version with its three numbers alone: Python spells what may follow otherwise."""
    numbers = [*re.findall(r"\d+", version), "0", "0", "0"][:3]
    return ".".join(numbers)


def _rule(info: RuleInfo, documentation: str) -> _Json:
    address = f"{documentation}{info.anchor}" if documentation else ""
    more = f"\n\n[More]({address})" if address else ""
    return {
        "id": str(info.id),
        "shortDescription": {"text": info.title},
        "fullDescription": {"text": info.help},
        "help": {"text": info.help, "markdown": f"**{info.title}.** {info.help}{more}"},
        **({"helpUri": address} if address else {}),
        "defaultConfiguration": {"level": str(info.severity)},
        "properties": {
            "tags": [info.id.partition("-")[0]],
            "problem.severity": _GRADES[info.severity],
        },
    }


def _result(found: ReportedFinding, place: int, mark: str, folder: str) -> _Json:
    result: _Json = {
        "ruleId": found.rule,
        "ruleIndex": place,
        "level": found.severity,
        "message": {"text": _message(found)},
        "locations": [_location(found, folder)],
        "partialFingerprints": {"primaryLocationLineHash": mark},
    }
    if found.ignored:
        kind = "inSource" if found.kind else "external"
        result["suppressions"] = [{"kind": kind, "status": "accepted", "justification": found.ignored}]
    return result


def _message(found: ReportedFinding) -> str:
    """Return the reason after what it is about, so that nothing in it is read as a placeholder or a link.

    The standard doubles all braces. Readers show them as they are, so that advice such as ``{name: http}`` would get
    others; only what would be a placeholder is doubled.
    """
    parts = (f"{found.kind}/{found.name}" if found.kind else "", found.path, found.reason)
    text = ": ".join(part for part in parts if part)
    return _PLACEHOLDER.sub(r"{{\1}}", text).replace("](", "\\](")


def _location(found: ReportedFinding, folder: str) -> _Json:
    location: _Json = {}
    if not found.file.startswith("<"):
        physical: _Json = {"artifactLocation": {"uri": _uri(found.file, folder)}}
        if found.line:
            physical["region"] = {"startLine": found.line}
        location["physicalLocation"] = physical
    logical = list(_logical(found))
    if logical:
        location["logicalLocations"] = logical
    return location


def _logical(found: ReportedFinding) -> Iterator[_Json]:
    title = f"{found.kind}/{found.name}" if found.kind else ""
    if title:
        yield {"name": title, "fullyQualifiedName": title, "kind": "object"}
    if found.path:
        whole = f"{title}: {found.path}" if title else found.path
        yield {"name": found.path, "fullyQualifiedName": whole, "kind": "property"}


def _uri(file: str, folder: str) -> str:
    """Return a file as a URI: relative to the repository, as code hosts want it, unless its path is absolute."""
    if file.startswith("/"):
        return f"file://{_encoded(file)}"
    steps: list[str] = []
    for step in f"{folder}/{file}".split("/"):
        if step == ".." and steps and steps[-1] != "..":
            steps.pop()
        elif step not in ("", "."):
            steps.append(step)
    return _encoded("/".join(steps))


def _encoded(path: str) -> str:
    raw = path.encode("utf-8", "surrogateescape")
    return "".join(chr(byte) if chr(byte) in _PLAIN else f"%{byte:02X}" for byte in raw)


def _fingerprints(findings: Sequence[ReportedFinding]) -> list[str]:
    """Return what tells each finding from others of its file and rule, wherever in the file it moves.

    A reason is no part of it: numbers in it change with the fleet, and the finding is still the same. Of several that
    are alike, the first one stays the first.
    """
    seen: Counter[tuple[str, ...]] = Counter()
    marks = []
    for each in findings:
        identity = (each.rule, each.file, each.kind, each.name, each.path)
        seen[identity] += 1
        digest = hashlib.sha256("\0".join(identity).encode("utf-8", "surrogateescape")).hexdigest()[:16]
        marks.append(f"{digest}:{seen[identity]}")
    return marks
