"""The engine's command as Kthena's controllers write it (Kthena spec 2.3, D-05, D-07, D-20)."""

from collections.abc import Mapping

from .....contract.base import Json
from .....contract.quantity import parse_quantity
from .....engines.settings import Setting
from ...types.model_booster import ModelBackend, ModelWorker
from ..children.weights import digest
from ..facts import facts
from .golang import verbatim


class Unconvertible(Exception):  # noqa: N818  it ends the conversion, as it does upstream
    """Raised where the controllers give up; the text says why."""


def cache_path(uri: str | None) -> str:
    """Return the text behind the scheme: relative for a claim (D-04), empty for none (D-03)."""
    return uri.split("://")[1] if uri else ""


def engine_command(backend: ModelBackend, config: Json, workers: Mapping[str, ModelWorker]) -> list[str]:
    """Return the command of a role: what follows the script of a group never reaches the engine (D-07)."""
    literal, folder = facts().literal, cache_path(backend.cache_uri)
    command = [*literal.command, f"{folder}/{digest(backend.model_uri)}", *_arguments(config)]
    server = workers.get("server")
    if server and (server.pods or 0) > 1:
        line = " ".join((*command, *literal.ray))
        script = literal.script
        start = f"{script} leader --ray_cluster_size={server.pods} --num-gpus={_devices(server)}"
        command = ["bash", "-c", f"chmod u+x {script} && {start} && {line}"]
    command += facts().engines["vLLM"].events
    engine = facts().engines["vLLM"].known
    if backend.lora_adapters:
        adapters = (f"{each.name}={folder}/{digest(each.artifact_url)}" for each in backend.lora_adapters)
        command += (engine.flag(Setting.ADAPTERS_ON) or "", engine.flag(Setting.ADAPTERS) or "", *adapters)
    return command


def worker_command() -> list[str]:
    """Return what a worker runs."""
    script = facts().literal.script
    return ["bash", "-c", f"chmod u+x {script} && {script} worker --ray_address=$(ENTRY_ADDRESS)"]


def _arguments(config: Json) -> list[str]:
    if config is None:
        return []
    if not isinstance(config, dict):
        raise Unconvertible("config is not a JSON object")
    words = []
    for key in sorted(config):
        words.append(f"--{key.replace('_', '-')}")
        value = verbatim(config[key])
        if value:
            words.append(value)
    return words


def _devices(worker: ModelWorker) -> int:
    requests = (worker.resources or {}).get("requests") or {}
    return sum(-int(-parse_quantity(requests[key]) // 1) for key in facts().literal.devices if key in requests)
