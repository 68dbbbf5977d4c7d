"""One comment about all plans of a pull request."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from .markdown import block, cleaned, code, length, shares, shortened
from .plans import LOG, REPORT, Plans, StackPlan
from .received import read_text

MARKER = "<!-- inference-platform: plans -->"
"""By it the comment is found again. It is the first line of the comment."""
MOST = 65_536
"""Characters of a comment (GitHub's API answers 422 to more: "body is too long (maximum is 65536 characters)")."""
_TITLE = "## What this change comes to"
_NOTHING = f"{MARKER}\n{_TITLE}\n\nNo stack is touched.\n"


def comment(plans: Plans, texts: Mapping[str, str], where: str, most: int = MOST) -> str:
    """Return the comment.

    Args:
        plans: What was planned.
        texts: The report of each stack, clean; what is missing has no plan.
        where: Where the whole reports are, as Markdown.
        most: Its length at most.
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
    """Leave out whole sections where even their frames are too many."""
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
    """Say whether a reader should see a report at once: the only one, and those with errors."""
    return len(plans.stacks) == 1 or plan.exit_code != 0


def _frame(plan: StackPlan, text: str, *, opened: bool) -> str:
    start = "<details open>" if opened else "<details>"
    return f"\n{start}<summary>{plan.stack}: {plan.verdict}</summary>\n\n{text.rstrip()}\n\n</details>\n"


def reports(plans: Plans, folder: Path, links: str) -> dict[str, str]:
    """Return the report of each stack from a folder that anybody may have filled; without one, the end of the log."""
    found = {}
    for plan in plans.stacks:
        text = read_text(folder, plan.stack, REPORT)
        log = "" if text else read_text(folder, plan.stack, LOG)
        found[plan.stack] = cleaned(text, links) if text else block(log) if log else "Nothing was said.\n"
    return found
