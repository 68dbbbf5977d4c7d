"""A review as lines for a terminal."""

from components.review.review import Review


def text(review: Review) -> str:
    """Return what a reviewer reads."""
    head = review.head
    lines = [f"stack {head.stack}", *(f"failed: {head.failed}",) * bool(head.failed)]
    lines += [f"{finding.file}:{finding.line}: {finding.severity}: {finding.reason}" for finding in head.findings]
    lines += [f"{change.kind} {change.title}" for change in review.changes]
    lines += [f"{blast.title}: {blast.disruption}" for blast in review.blasts]
    return "\n".join([*lines, *review.failures, ""])
