"""``workbench explain --finding``: what a finding means, and what to do about it."""

import json
import sys
import textwrap

from components.contract.findings.registry import RuleInfo, rules
from components.contract.problems import did_you_mean
from toolkit.printing import Format

from .errors import WorkbenchError

_WIDTH = 100


def describe_finding(name: str, output: Format) -> None:
    """Print what a finding means, how severe it is, and how to ignore it.

    Raises:
        WorkbenchError: there is no such finding; the message suggests the closest.
    """
    known = {str(id_): info for id_, info in rules().items()}
    info = known.get(name.strip("[]"))
    if info is None:
        hint = (
            did_you_mean(name, list(known))
            or "; messages end with the id of their finding, such as [nodes-too-small]"
        )
        raise WorkbenchError(f"unknown finding {name!r}{hint}", exit_code=2)
    if output is Format.JSON:
        sys.stdout.write(json.dumps(_as_dict(info), indent=2) + "\n")
    else:
        sys.stdout.write("\n".join(_lines(info)) + "\n")


def _as_dict(info: RuleInfo) -> dict[str, object]:
    return {
        "id": str(info.id),
        "title": info.title,
        "severity": str(info.severity),
        "mayBeIgnored": info.may_be_ignored,
        "help": info.help,
    }


def _lines(info: RuleInfo) -> list[str]:
    lines = [f"{info.id}: {info.title} ({info.severity})", "", *textwrap.wrap(info.help, _WIDTH), ""]
    if info.may_be_ignored:
        return [
            *lines,
            "To ignore it, annotate the resource that the message names with the reason:",
            "",
            "  metadata:",
            "    annotations:",
            f"      ignore.inference-platform/{info.id}: the reason",
        ]
    return [*lines, "It cannot be ignored: something would be missing from what is created."]
