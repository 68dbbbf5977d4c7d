"""Options of hardening."""

from ...contract.words import Word


class PodSecurity(Word):
    """Pod Security profile that pods meet as far as their images allow."""

    RESTRICTED = "restricted"
    BASELINE = "baseline"
    NONE = "none"
    """Pods stay as they are."""


class Priority(Word):
    """Which models may preempt which if no node has room for all; see ``priority_classes.yaml``."""

    CRITICAL = "critical"
    STANDARD = "standard"
    BATCH = "batch"
    NONE = "none"
    """No PriorityClass, even if the family has a default."""
