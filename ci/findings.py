"""Converts findings for code hosts: SARIF for GitHub, Code Quality reports for GitLab."""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from .errors import PipelineError
from .plans import FINDINGS, Plans
from .received import read_bytes

_MOST_RESULTS = 5_000
"""Maximum number of results that GitHub shows per upload ("SARIF support for code scanning", upload limits)."""
_TOOL = "inference-platform"
_SEVERITIES = {"error": "major", "warning": "minor", "note": "info", "none": "info"}
"""GitLab's words (GitLab Docs, "Code Quality report format": info, minor, major, critical or blocker)."""

Json = dict[str, Any]


def read_sarif(data: bytes) -> Json:
    """Read a SARIF log.

    Raises:
        PipelineError: the data is something else.
    """
    try:
        log: Json = json.loads(data)
        is_sarif = log["version"] == "2.1.0" and isinstance(log["runs"], list)
    except (ValueError, KeyError, TypeError, RecursionError):
        is_sarif = False
    if not is_sarif:
        raise PipelineError("a report of findings is not SARIF 2.1.0")
    return log


def for_upload(log: Json, stack: str) -> Json:
    """Return a log with only this tool and one stack.

    The log is from untrusted code, and must not close findings of another tool or stack. GitHub distinguishes
    analyses by tool and category, which is ``automationDetails.id`` (GitHub Docs, "SARIF support for code scanning",
    runAutomationDetails).
    """
    runs = [run for run in log["runs"] if isinstance(run, dict)][:1]
    run: Json = runs[0] if runs else {}
    results = _objects(run.get("results"))[:_MOST_RESULTS]
    tool = run.get("tool")
    driver = tool.get("driver") if isinstance(tool, dict) else None
    rules = _objects(driver.get("rules") if isinstance(driver, dict) else None)
    sanitized = {
        "tool": {"driver": {"name": _TOOL, "rules": [_with_keys(rule, _RULE_KEYS) for rule in rules]}},
        "automationDetails": {"id": f"plan/{stack}/"},
        "results": [_with_keys(result, _RESULT_KEYS) for result in results],
    }
    return {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [sanitized]}


def _objects(value: object) -> list[Json]:
    """Return the objects in a list; empty if the untrusted value is no list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


_TEXTS = ("shortDescription", "fullDescription", "help", "helpUri")
_RULE_KEYS = ("id", "name", *_TEXTS, "defaultConfiguration", "properties")
_RESULT_KEYS = ("ruleId", "level", "message", "locations", "partialFingerprints", "suppressions", "kind")
"""The displayed properties. Without ``ruleIndex``, which would refer to the list of rules before it was filtered."""


def _with_keys(value: Json, keys: Iterable[str]) -> Json:
    return {key: value[key] for key in keys if key in value}


def write_uploads(plans: Plans, folder: Path, out: Path) -> int:
    """Write one SARIF file per stack for upload, and return their number."""
    out.mkdir(parents=True)
    count = 0
    for plan in plans.stacks:
        data = read_bytes(folder, plan.stack, FINDINGS)
        if data is not None:
            text = json.dumps(for_upload(read_sarif(data), plan.stack), indent=1)
            (out / f"{plan.stack}.sarif").write_text(text, encoding="utf-8")
            count += 1
    return count


def code_quality(logs: Iterable[Json]) -> list[Json]:
    """Return the findings of SARIF logs as a GitLab Code Quality report: deduplicated, sorted, with fingerprints.

    Findings without a location are dropped, because GitLab requires one; the note contains them. A fingerprint
    contains neither line nor text, which may change while the finding remains the same.
    """
    rows: dict[tuple[str, int, str, str], Json] = {}
    for log in logs:
        for run in log["runs"]:
            for result in _objects(run.get("results")):
                location = _location(result)
                if location is None or result.get("suppressions"):
                    continue
                rule = str(result.get("ruleId", ""))
                message = result.get("message")
                text = str(message.get("text", "")) if isinstance(message, dict) else ""
                rows[(*location, rule, text)] = result
    counts: dict[str, int] = {}
    entries = []
    for (path, line, rule, text), result in sorted(rows.items(), key=lambda row: row[0]):
        hashes = result.get("partialFingerprints")
        line_hash = hashes.get("primaryLocationLineHash", "") if isinstance(hashes, dict) else ""
        identity = f"{rule}\n{path}\n{line_hash}"
        counts[identity] = counts.get(identity, 0) + 1
        fingerprint = hashlib.sha256(f"{identity}\n{counts[identity]}".encode("utf-8", "replace")).hexdigest()
        entries.append(
            {
                "check_name": rule,
                "description": text,
                "severity": _SEVERITIES.get(str(result.get("level", "warning")), "minor"),
                "location": {"path": path, "lines": {"begin": line}},
                "fingerprint": fingerprint,
            }
        )
    return entries


def _location(result: Json) -> tuple[str, int] | None:
    """Return file and line of a result; None without a file in the repository."""
    try:
        physical = result["locations"][0]["physicalLocation"]
        path = physical["artifactLocation"]["uri"]
        line = (physical.get("region") or {}).get("startLine", 1)
    except (KeyError, IndexError, TypeError, AttributeError):
        return None
    if not isinstance(path, str) or not path or path.startswith(("/", "file:")) or not isinstance(line, int):
        return None
    return unquote(path).removeprefix("./"), max(line, 1)  # the path is a URI in SARIF
