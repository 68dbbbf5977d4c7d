"""Writes findings as a SARIF 2.1.0 log, which editors and code hosts display at the line.

The standard is OASIS, SARIF Version 2.1.0 Plus Errata 01. GitHub documents the properties that it reads, and its
limits, under "SARIF support for code scanning" and "SARIF results exceed limit".
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Protocol

from .registry import RuleInfo, rules

_Json = dict[str, Any]

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
MOST_RESULTS = 25_000
"""Maximum number of results of a run; GitHub rejects files with more."""
_ORDER = ("error", "warning", "note")
_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/")
"""Characters of a path that a URI does not encode: the unreserved ones of RFC 3986, and the slash."""
_PLACEHOLDER = re.compile(r"\{(\d+)\}")
_GRADES = {"error": "error", "warning": "warning", "note": "recommendation"}
"""Severities of GitHub, by which it sorts alerts (``properties.problem.severity``)."""


_NO_STATES: Mapping[Any, str] = MappingProxyType({})


class ReportedFinding(Protocol):
    """A finding of a report."""

    @property
    def rule(self) -> str:
        """ID of its rule."""

    @property
    def severity(self) -> str:
        """``error``, ``warning`` or ``note``."""

    @property
    def file(self) -> str:
        """Path of its file; another origin is in ``<>``."""

    @property
    def line(self) -> int:
        """Line in the file, from 1; 0 if unknown."""

    @property
    def kind(self) -> str:
        """Kind of the resource; empty for settings."""

    @property
    def name(self) -> str:
        """Name of the resource."""

    @property
    def path(self) -> str:
        """Path of the field."""

    @property
    def reason(self) -> str:
        """The message."""

    @property
    def ignored(self) -> str:
        """The reason why it is ignored; empty if it is not."""


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
        findings: The findings. The same findings in the same order give the same log.
        version: Version of the package.
        folder: Prefix of relative files, if the findings are those of a folder within a repository.
        documentation: URL of the folder that contains ``docs``, ending in a slash; without one, rules have no link.
        states: State of each finding compared with another revision: ``new``, ``unchanged`` or ``updated`` (SARIF
            3.27.24). Either all findings have one or none has.
    """
    all_findings = list(findings)
    kept = sorted(all_findings, key=lambda finding: _ORDER.index(finding.severity))[:MOST_RESULTS]
    named = {finding.rule for finding in kept}
    used = [info for id_, info in rules().items() if id_ in named]
    indexes = {str(info.id): index for index, info in enumerate(used)}
    # Python's suffixes of versions, such as .dev1, are not those of semantic versions.
    semantic_version = ".".join([*re.findall(r"\d+", version), "0", "0", "0"][:3])
    driver: _Json = {"name": "inference-platform", "semanticVersion": semantic_version}
    driver["rules"] = [_rule(info, documentation) for info in used]
    results = [
        _result(finding, indexes[finding.rule], fingerprint, folder)
        for finding, fingerprint in zip(kept, _fingerprints(kept), strict=True)
    ]
    if states:
        for finding, result in zip(kept, results, strict=True):
            result["baselineState"] = states[finding]
    run: _Json = {"tool": {"driver": driver}, "results": results}
    if len(kept) < len(all_findings):
        text = f"{len(all_findings) - len(kept)} of {len(all_findings)} findings are left out, the least severe ones"
        notice = {"level": "warning", "message": {"text": text}}
        run["invocations"] = [{"executionSuccessful": True, "toolExecutionNotifications": [notice]}]
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


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


def _result(finding: ReportedFinding, rule_index: int, fingerprint: str, folder: str) -> _Json:
    title = f"{finding.kind}/{finding.name}" if finding.kind else ""
    # Nothing in a message may be read as a placeholder or a link. The standard doubles all braces, but viewers show
    # them as they are, which would change advice such as ``{name: http}``; only those of a placeholder are doubled.
    message = ": ".join(part for part in (title, finding.path, finding.reason) if part)
    message = _PLACEHOLDER.sub(r"{{\1}}", message).replace("](", "\\](")
    location: _Json = {}
    if not finding.file.startswith("<"):
        physical: _Json = {"artifactLocation": {"uri": _uri(finding.file, folder)}}
        if finding.line:
            physical["region"] = {"startLine": finding.line}
        location["physicalLocation"] = physical
    logical = [{"name": title, "fullyQualifiedName": title, "kind": "object"}] if title else []
    if finding.path:
        qualified = f"{title}: {finding.path}" if title else finding.path
        logical.append({"name": finding.path, "fullyQualifiedName": qualified, "kind": "property"})
    if logical:
        location["logicalLocations"] = logical
    result: _Json = {
        "ruleId": finding.rule,
        "ruleIndex": rule_index,
        "level": finding.severity,
        "message": {"text": message},
        "locations": [location],
        "partialFingerprints": {"primaryLocationLineHash": fingerprint},
    }
    if finding.ignored:
        kind = "inSource" if finding.kind else "external"
        result["suppressions"] = [{"kind": kind, "status": "accepted", "justification": finding.ignored}]
    return result


def _uri(file: str, folder: str) -> str:
    """Return a file as a URI: relative to the repository, as code hosts require, unless its path is absolute."""
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
    """Return fingerprints that identify findings although their lines change.

    The reason is left out, because its numbers change with the fleet while the finding stays the same. Findings that
    are otherwise equal are numbered in their order.
    """
    seen: Counter[tuple[str, ...]] = Counter()
    fingerprints = []
    for finding in findings:
        identity = (finding.rule, finding.file, finding.kind, finding.name, finding.path)
        seen[identity] += 1
        digest = hashlib.sha256("\0".join(identity).encode("utf-8", "surrogateescape")).hexdigest()[:16]
        fingerprints.append(f"{digest}:{seen[identity]}")
    return fingerprints
