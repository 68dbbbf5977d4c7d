"""One comment about all plans of a pull request."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from .markdown import block, cleaned, code, length, shares, shortened
from .plans import LOG, REPORT, Plans, StackPlan
from .received import read_text

MARKER = "<!-- inference-platform: plans -->"
"""First line of the comment, by which later runs find it."""
MOST = 65_536
"""Maximum length of a comment on GitHub, whose API rejects more (422: "body is too long (maximum is 65536
characters)")."""
_TITLE = "## What this change comes to"
_NOTHING = f"{MARKER}\n{_TITLE}\n\nNo stack is touched.\n"


def comment(plans: Plans, texts: Mapping[str, str], where: str, most: int = MOST) -> str:
    """Return the comment.

    Args:
        plans: The plans.
        texts: Sanitized report of each stack; missing for stacks without a plan.
        where: Location of the full reports, in Markdown.
        most: Maximum length.
    """
    if not plans.stacks and not plans.removed:
        return _NOTHING
    head = f"{MARKER}\n{_TITLE}\n\n{_table(plans)}\nCommit {code(plans.head[:12])}; the whole reports are {where}.\n"
    frames = {plan.stack: _frame(plan, "", opened=_opened(plans, plan)) for plan in plans.stacks}
    room = most - length(head) - sum(map(length, frames.values()))
    given = shares({plan.stack: length(texts.get(plan.stack, "")) for plan in plans.stacks}, max(room, 0))
    parts = [
        _frame(plan, shortened(texts.get(plan.stack, ""), given[plan.stack], where), opened=_opened(plans, plan))
        for plan in plans.stacks
    ]
    return _within(head, parts, most)


def _within(head: str, parts: Iterable[str], most: int) -> str:
    """Append sections while they fit; drop the rest."""
    text = head
    for part in parts:
        if length(text) + length(part) > most:
            break
        text += part
    return text


def _table(plans: Plans) -> str:
    rows = [f"| {code(plan.stack)} | {plan.verdict} | {code(plan.because[:200])} |" for plan in plans.stacks]
    rows += [f"| {code(stack)} | removed: what it runs stays until `pulumi destroy` | |" for stack in plans.removed]
    return "\n".join(["| stack | plan | planned because of |", "|---|---|---|", *rows, ""])


def _opened(plans: Plans, plan: StackPlan) -> bool:
    """Return whether to expand a report: a single one, and those with errors."""
    return len(plans.stacks) == 1 or plan.exit_code != 0


def _frame(plan: StackPlan, text: str, *, opened: bool) -> str:
    start = "<details open>" if opened else "<details>"
    return f"\n{start}<summary>{plan.stack}: {plan.verdict}</summary>\n\n{text.rstrip()}\n\n</details>\n"


def reports(plans: Plans, folder: Path, links: str) -> dict[str, str]:
    """Return the report of each stack from an untrusted folder; the end of the log if it is missing."""
    found = {}
    for plan in plans.stacks:
        text = read_text(folder, plan.stack, REPORT)
        log = "" if text else read_text(folder, plan.stack, LOG)
        found[plan.stack] = cleaned(text, links) if text else block(log) if log else "Nothing was said.\n"
    return found
