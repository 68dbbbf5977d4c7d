"""The token with which a server loads from the Hugging Face hub."""

from collections.abc import Mapping
from typing import Any

from ....contract.findings.ids import RuleId
from ....fleet.objects import Object
from ..serving import Serving


def token_env(serving: Serving, name: str, secret: Mapping[str, Any] | None, path: str) -> list[Object]:
    """Return the variable that takes its value from a Secret; nothing without a reference to one."""
    if secret is None:
        return []
    if not secret.get("name"):
        serving.findings.error(
            f"{path}.name", "must name a Secret in this namespace, found none; set it", RuleId.REFERENCE_MISSING
        )
    return [{"name": name, "valueFrom": {"secretKeyRef": dict(secret)}}]
