"""What one revision changes against another one."""

from .review import ModelChange, Review, Thresholds
from .snapshot import Snapshot


def review(head: Snapshot, base: Snapshot | None, thresholds: Thresholds) -> Review:
    """Compare."""
    counted = ("error", "warning") if thresholds.fail_on == "warning" else ("error",)
    wrong = sum(finding.severity in counted and not finding.ignored for finding in head.findings)
    failures = (head.failed,) if head.failed else (f"{wrong} findings",) if wrong else ()
    models = tuple(ModelChange(None, model) for model in head.models)
    return Review(head, base, models=models, failures=failures)
