"""A stand-in for an API server that changes its answers: values, fields, and the text itself."""

import json
from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

from tests.engine.safety.standin import StandIn
from tests.hostile.mutations import changed

GROUPS = {
    "apps": ("Deployment", "StatefulSet"),
    "autoscaling": ("HorizontalPodAutoscaler",),
    "leaderworkerset.x-k8s.io": ("LeaderWorkerSet",),
    "networking.k8s.io": ("NetworkPolicy",),
    "scheduling.k8s.io": ("PriorityClass",),
    "apiextensions.k8s.io": ("CustomResourceDefinition",),
}
"""Kinds by group; all others are in the core group."""
ELSEWHERE = {kind for kinds in GROUPS.values() for kind in kinds}
TEXTS = (b"", b"<html>Sign in</html>", b"\xff", b"null", b"[]", b"5", b"{", b"[" * 100_000, b'{"items": [')


class MutatedServer(StandIn):
    """All objects as they are, and answers about them that are not."""

    def __init__(self, random: Random) -> None:
        super().__init__()
        self.random = random
        self.share = 0.0
        """Share of the answers that are changed."""

    def _answer(self, method: str, parts: list[str], body: Any) -> tuple[int, Any]:
        status, answer = super()._answer(method, parts, body)
        if "resources" in answer:
            own = GROUPS.get(parts[1], ()) if len(parts) > 2 else ()
            answer["resources"] = [
                each
                for each in answer["resources"]
                if each["kind"] in own or (parts[0] == "api" and each["kind"] not in ELSEWHERE)
            ]
        return status, answer

    def send(
        self, method: str, path: str, params: Mapping[str, str] | None, body: Any, *rest: object
    ) -> tuple[int, bytes]:
        """Answer one request."""
        status, answer = super().send(method, path, params, body, *rest)
        if self.random.random() >= self.share:
            return status, answer
        if self.random.random() < 0.05:
            return status, self.random.choice(TEXTS)
        value = json.loads(answer)
        for _ in range(self.random.choice((1, 1, 2, 4))):
            value = changed(value, self.random)
        # Another uid is another object, and another manager somebody else's: lies that no client could see.
        lies = {*_identities(value)} - {*_identities(json.loads(answer)), ""}
        return status, answer if lies else json.dumps(value).encode()


def _identities(value: Any) -> Iterator[str]:
    """Yield the uids and managers that are texts, and managers that are absent."""
    if isinstance(value, dict):
        yield from (value[key] for key in ("uid", "manager") if isinstance(value.get(key), str))
        yield from ("no manager" for _ in range("operation" in value and not isinstance(value.get("manager"), str)))
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _identities(inner)
