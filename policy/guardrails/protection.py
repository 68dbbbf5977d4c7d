"""Check the protection of production stacks against deletion."""

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from .values import UNKNOWN, GuardedResource, Violation, violation

_DELETION_PROTECTION = {
    "aws:eks/cluster:Cluster": "deletionProtection",
    "aws:lb/loadBalancer:LoadBalancer": "enableDeletionProtection",
    "aws:rds/instance:Instance": "deletionProtection",
}


def unprotected(subject: GuardedResource, stacks: Sequence[str], protected: Sequence[str]) -> Iterator[Violation]:
    """Report a production resource without deletion protection.

    Args:
        subject: Any resource.
        stacks: Patterns of the names of production stacks.
        protected: Resource types that need Pulumi's option ``protect``.
    """
    if not any(fnmatchcase(subject.stack, pattern) for pattern in stacks):
        return
    if subject.type in protected and not subject.protect:
        step = "set inference-platform:protect: true, or protect=True among the options of the resource"
        yield violation(subject, "protect", subject.protect, f"true in the stack {subject.stack!r}", step)
    path = _DELETION_PROTECTION.get(subject.type)
    if path and subject.at(path) is not True and subject.at(path) is not UNKNOWN:
        step = "set inference-platform:cluster.deletionProtection: true, or the property of the resource"
        yield violation(subject, path, subject.at(path), f"true in the stack {subject.stack!r}", step)
