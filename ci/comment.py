"""One comment about all plans of a pull request."""

from collections.abc import Mapping
from pathlib import Path

from .markdown import block, cleaned, code, length, shares, shortened
from .plans import LOG, REPORT, Plans, StackPlan
from .received import read_text

MARKER = "<!-- inference-platform: plans -->"
"""First line of the comment, by which later runs find it."""
MOST = 65_536
"""Maximum length of a comment on GitHub, whose API rejects more (422: "body is too long (maximum is 65536
characters)")."""
_TITLE = "## Stack plans"
_NOTHING = f"{MARKER}\n{_TITLE}\n\nNo stack is affected.\n"


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
    rows = [f"| {code(plan.stack)} | {plan.verdict} | {code(plan.because[:200])} |" for plan in plans.stacks]
    rows += [f"| {code(stack)} | removed: its resources remain until `pulumi destroy` | |" for stack in plans.removed]
    table = "\n".join(["| stack | plan | planned because of |", "|---|---|---|", *rows, ""])
    head = f"{MARKER}\n{_TITLE}\n\n{table}\nCommit {code(plans.head[:12])}; the full reports are {where}.\n"
    frames = {plan.stack: _frame(plan, "", opened=_opened(plans, plan)) for plan in plans.stacks}
    room = most - length(head) - sum(map(length, frames.values()))
    sizes = shares({plan.stack: length(texts.get(plan.stack, "")) for plan in plans.stacks}, max(room, 0))
    text = head
    for plan in plans.stacks:
        report = shortened(texts.get(plan.stack, ""), sizes[plan.stack], where)
        section = _frame(plan, report, opened=_opened(plans, plan))
        if length(text) + length(section) > most:
            break
        text += section
    return text


def _opened(plans: Plans, plan: StackPlan) -> bool:
    """Return whether to expand a report: a single one, and those with errors."""
    return len(plans.stacks) == 1 or plan.exit_code != 0


def _frame(plan: StackPlan, text: str, *, opened: bool) -> str:
    start = "<details open>" if opened else "<details>"
    return f"\n{start}<summary>{plan.stack}: {plan.verdict}</summary>\n\n{text.rstrip()}\n\n</details>\n"


def reports(plans: Plans, folder: Path, links: str) -> dict[str, str]:
    """Return the report of each stack from an untrusted folder; the end of the log if it is missing."""
    texts = {}
    for plan in plans.stacks:
        text = read_text(folder, plan.stack, REPORT)
        log = "" if text else read_text(folder, plan.stack, LOG)
        texts[plan.stack] = cleaned(text, links) if text else block(log) if log else "The plan printed no output.\n"
    return texts
