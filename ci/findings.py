"""Converts findings for code hosts: SARIF for GitHub, Code Quality reports for GitLab."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
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
        read = json.loads(data)
        wrong = read["version"] != "2.1.0" or not isinstance(read["runs"], list)
    except (ValueError, KeyError, TypeError, RecursionError):
        wrong = True
    if wrong:
        raise PipelineError("a report of findings is not SARIF 2.1.0")
    found: Json = read
    return found


def for_upload(log: Json, stack: str) -> Json:
    """Return a log with only this tool and one stack.

    The log is from untrusted code, and must not close findings of another tool or stack. GitHub distinguishes
    analyses by tool and category, which is ``automationDetails.id`` (GitHub Docs, "SARIF support for code scanning",
    runAutomationDetails).
    """
    runs = [run for run in log["runs"] if isinstance(run, dict)][:1]
    results = [each for run in runs for each in _results(run)][:_MOST_RESULTS]
    rules = [_rule(each) for run in runs for each in _rules(run)]
    run = {
        "tool": {"driver": {"name": _TOOL, "rules": rules}},
        "automationDetails": {"id": f"plan/{stack}/"},
        "results": [_result(each) for each in results],
    }
    return {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}


def _results(run: Mapping[str, Any]) -> Iterator[Json]:
    found = run.get("results")
    yield from (each for each in (found if isinstance(found, list) else []) if isinstance(each, dict))


def _rules(run: Mapping[str, Any]) -> Iterator[Json]:
    found: object = run
    for key in ("tool", "driver", "rules"):
        found = found.get(key) if isinstance(found, Mapping) else None
    yield from (each for each in (found if isinstance(found, list) else []) if isinstance(each, dict))


_TEXTS = ("shortDescription", "fullDescription", "help", "helpUri")
_OF_RULES = ("id", "name", *_TEXTS, "defaultConfiguration", "properties")
_OF_RESULTS = ("ruleId", "level", "message", "locations", "partialFingerprints", "suppressions", "kind")


def _rule(rule: Json) -> Json:
    return {key: rule[key] for key in _OF_RULES if key in rule}


def _result(result: Json) -> Json:
    """Keep the displayed properties. A rule index would refer to another list of rules."""
    return {key: result[key] for key in _OF_RESULTS if key in result}


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
            for result in _results(run):
                place = _place(result)
                message = result.get("message")
                text = str(message.get("text", "")) if isinstance(message, dict) else ""
                if place and not result.get("suppressions"):
                    rule = str(result.get("ruleId", ""))
                    rows[(*place, rule, text)] = _entry(result, *place, rule, text)
    seen: dict[str, int] = {}
    entries = []
    for key in sorted(rows):
        path, _, rule, _ = key
        mark = f"{rule}\n{path}\n{rows[key].pop('mark')}"
        seen[mark] = seen.get(mark, 0) + 1
        fingerprint = hashlib.sha256(f"{mark}\n{seen[mark]}".encode("utf-8", "replace")).hexdigest()
        entries.append({**rows[key], "fingerprint": fingerprint})
    return entries


def _entry(result: Json, path: str, line: int, rule: str, text: str) -> Json:
    severity = _SEVERITIES.get(str(result.get("level", "warning")), "minor")
    location = {"path": path, "lines": {"begin": line}}
    marks = result.get("partialFingerprints")
    mark = marks.get("primaryLocationLineHash", "") if isinstance(marks, Mapping) else ""
    return {"check_name": rule, "description": text, "severity": severity, "location": location, "mark": mark}


def _place(result: Json) -> tuple[str, int] | None:
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
