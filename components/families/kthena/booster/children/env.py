"""Variables of the pods of a ModelBooster (Kthena spec 2.2, 2.5)."""

from collections.abc import Iterable, Mapping, Sequence

from .....fleet.objects import Object
from ..facts import Started, facts
from ..setup import Part

_PER_ROLE: Mapping[str, tuple[Object, ...]] = {
    "prefill": (
        {"name": "HF_HUB_OFFLINE", "value": "1"},
        {"name": "HCCL_IF_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
    ),
    "decode": (
        {"name": "HF_HUB_OFFLINE", "value": "1"},
        {"name": "GLOO_SOCKET_IFNAME", "value": "eth0"},
        {"name": "TP_SOCKET_IFNAME", "value": "eth0"},
        {"name": "HCCL_SOCKET_IFNAME", "value": "eth0"},
    ),
}
_REDIS = "REDIS_HOST", "REDIS_PORT"


def engine_env(part: Part, role: str, more: Iterable[Object] = ()) -> list[Object]:
    """Return the variables of an engine, and of the runtime beside it.

    Args:
        part: The backend.
        role: Its role.
        more: What this engine needs besides.
    """
    return _once(part.env, (*generated_env(part.started, role, runtime=part.setup.runtime), *more))


def generated_env(started: Started, role: str, *, runtime: bool) -> list[Object]:
    """Return what an engine is told beside what the user says."""
    of_pod = [_of_pod("POD_NAME", "name"), _of_pod("NAMESPACE", "namespace")]
    return [*of_pod, *started.env, *(_redis() if runtime else ()), *_PER_ROLE.get(role, ())]


def downloader_env(part: Part) -> list[Object]:
    """Return the variables of the backend that the downloader reads; it gets no others of them.

    Others are meant for the engine. ``HF_HUB_OFFLINE`` would keep the downloader from its work.
    """
    return [each for each in part.env if each["name"] in facts().downloader and each.get("value") != ""]


def _once(own: Sequence[Object], generated: Iterable[Object]) -> list[Object]:
    """Return the user's variables and the generated ones, each once: the user's value wins (D-30)."""
    named = {each["name"] for each in own}
    return [*own, *(each for each in generated if each["name"] not in named)]


def _of_pod(name: str, field: str) -> Object:
    return {"name": name, "valueFrom": {"fieldRef": {"fieldPath": f"metadata.{field}"}}}


def _redis() -> list[Object]:
    """Return where the runtime keeps what it learns of the cache, if the namespace says it."""
    config = [
        {"name": name, "valueFrom": {"configMapKeyRef": {"key": name, "name": "redis-config", "optional": True}}}
        for name in _REDIS
    ]
    secret = {"key": "REDIS_PASSWORD", "name": "redis-secret", "optional": True}
    return [*config, {"name": "REDIS_PASSWORD", "valueFrom": {"secretKeyRef": secret}}]
