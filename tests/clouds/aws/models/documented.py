"""Rules that AWS documents and botocore's models leave out: most of EC2 has no bounds there, nor have tags."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from tests.clouds.aws.models.shapes import model
from workbench.engine.values import UNKNOWN

MOST_TAGS = 50
RETENTION_DAYS = (
    *(1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731),
    *(1096, 1827, 2192, 2557, 2922, 3288, 3653),
)
"""CloudWatch Logs, PutRetentionPolicy."""
INTERFACE_TYPES = ("interface", "efa", "efa-only")
PATTERNS: Mapping[str, str] = {
    "launch template name": r"[a-zA-Z0-9().\-/_]{3,128}",
    "node group name": r"[0-9A-Za-z][A-Za-z0-9_-]{0,62}",
    "security group name": r"(?!sg-)[a-zA-Z0-9 ._\-:/()#,@\[\]+=&;{}!$*]{1,255}",
    "security group description": r"[a-zA-Z0-9 ._\-:/()#,@\[\]+=&;{}!$*]{0,255}",
    "placement group name": r"[\x20-\x7e]{1,255}",
    "queue name": r"[A-Za-z0-9_-]{1,80}|[A-Za-z0-9_-]{1,75}\.fifo",
    "Kubernetes version": r"1\.\d{2}",
    "schedule time": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ",
}


def pattern_problems(what: str, value: Any) -> list[str]:
    if value is None or value is UNKNOWN or (isinstance(value, str) and re.fullmatch(PATTERNS[what], value)):
        return []
    return [f"{what}: found {value!r}, which does not match {PATTERNS[what]}"]


def choice_problems(what: str, value: Any, allowed: Iterable[Any]) -> list[str]:
    if value is None or value is UNKNOWN or value in allowed:
        return []
    return [f"{what}: found {value!r}, allowed are {', '.join(map(str, allowed))}"]


def instance_type_problems(types: Any) -> list[str]:
    """EKS models instance types as plain strings; EC2 has the list."""
    known = model("ec2").shape_for("InstanceType").enum
    if not isinstance(types, list):
        return []
    return [f"instance type: {item!r} does not exist" for item in types if item is not UNKNOWN and item not in known]


def tag_problems(tags: Any) -> list[str]:
    if not isinstance(tags, Mapping):
        return []
    found = []
    if len(tags) > MOST_TAGS:
        found.append(f"tags: found {len(tags)}, allowed are {MOST_TAGS}")
    for key, value in tags.items():
        if not 1 <= len(key) <= 128 or key.lower().startswith("aws:"):
            found.append(f"tags: found the key {key!r}, allowed are 1 to 128 characters not starting with aws:")
        if value is not UNKNOWN and not (isinstance(value, str) and len(value) <= 256):
            found.append(f"tags[{key!r}]: found {value!r}, allowed are at most 256 characters")
    return found
