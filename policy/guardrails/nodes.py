"""Which machines a stack may use, and where."""

import json
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from .values import GuardedResource, Violation, known_texts, violation

AWS_PROVIDER = "pulumi:providers:aws"
_TYPES = {
    "aws:eks/nodeGroup:NodeGroup": "instanceTypes",
    "aws:ec2/launchTemplate:LaunchTemplate": "instanceType",
    "aws:ec2/instance:Instance": "instanceType",
}
_INSTANCE_TYPE = "node.kubernetes.io/instance-type"
"""The label by which Karpenter's pools choose (Karpenter, "NodePools", spec.template.spec.requirements)."""


def machine_types(subject: GuardedResource) -> Iterator[tuple[str, str]]:
    """Yield path and name of every instance type that a resource may start."""
    if subject.type in _TYPES:
        path = _TYPES[subject.type]
        yield from ((path, name) for name in subject.texts(path))
    if subject.type.startswith("kubernetes:karpenter.sh/") and subject.type.endswith(":NodePool"):
        path = "spec.template.spec.requirements"
        for each in subject.at(path) or ():
            if isinstance(each, Mapping) and (each.get("key"), each.get("operator")) == (_INSTANCE_TYPE, "In"):
                yield from ((path, name) for name in known_texts(each.get("values")))


def forbidden_types(subject: GuardedResource, allowed: Sequence[str], denied: Sequence[str]) -> Iterator[Violation]:
    """Yield the instance types that may not be used.

    Args:
        subject: Any resource.
        allowed: Patterns such as ``g6e.*``; one must fit.
        denied: Patterns of which none may fit.
    """
    for path, name in machine_types(subject):
        step = "choose another instance type, or extend the policy"
        if not _fits(name, allowed):
            yield violation(subject, path, name, ", ".join(allowed) or "none", step)
        elif _fits(name, denied):
            yield violation(subject, path, name, f"anything but {', '.join(denied)}", step)


def forbidden_regions(subject: GuardedResource, allowed: Sequence[str]) -> Iterator[Violation]:
    """Yield the regions where nothing may be.

    Args:
        subject: A provider of AWS, or a resource that names a region of its own (pulumi-aws 7, ``region``).
        allowed: Patterns such as ``eu-*``.
    """
    if subject.type == AWS_PROVIDER or subject.type.startswith("aws:"):
        for region in subject.texts("region"):
            if not _fits(region, allowed):
                step = "set another region (inference-platform:region), or extend the policy"
                yield violation(subject, "region", region, ", ".join(allowed) or "none", step)


def missing_tags(subject: GuardedResource, required: Sequence[str], taggable: Sequence[str]) -> Iterator[Violation]:
    """Yield a resource that lacks tags.

    Args:
        subject: Any resource; those that have tags, or whose type is taggable, are looked at.
        required: Names of tags.
        taggable: Types that have tags.
    """
    tags = subject.at("tags")
    if not (isinstance(tags, Mapping) or (tags is None and subject.type in taggable)):
        return
    found = {**_default_tags(subject.provider), **(tags or {})}
    lacking = [name for name in required if not found.get(name)]
    if lacking and subject.type.startswith("aws:"):
        step = f"add {', '.join(lacking)} to inference-platform:tags, or to the tags of the resource"
        yield violation(subject, "tags", sorted(found), f"with {', '.join(required)}", step)


def _default_tags(provider: Mapping[str, object]) -> dict[str, object]:
    """Return the tags that a provider adds; the settings of providers are JSON within a text."""
    given = provider.get("defaultTags")
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except ValueError:
            return {}
    tags = given.get("tags") if isinstance(given, Mapping) else None
    return dict(tags) if isinstance(tags, Mapping) else {}


def _fits(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
