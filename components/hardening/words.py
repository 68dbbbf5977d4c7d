"""The words that say what pods are held to."""

from ..api.words import Word


class PodSecurity(Word):
    """Profile of the Pod Security Standards that pods shall meet as far as their images allow."""

    RESTRICTED = "restricted"
    BASELINE = "baseline"
    NONE = "none"
    """Pods stay as they are."""


class Priority(Word):
    """Which models make room for which, where no node has room for all; ``priority_classes.yaml`` has the facts."""

    CRITICAL = "critical"
    STANDARD = "standard"
    BATCH = "batch"
