"""Where the models answer on this machine, for people: addresses, and lines to paste that call them."""

import json
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from toolkit.ports import LOOPBACK

from .folder import Addresses, LiveFolder
from .served import LiveFleet, ServedEndpoint, ServedWorkload, Speaks

_QUESTION = "Why is the sky blue?"
_TOKENS = 40
_VERSION = "/v1"
_HERE = (LOOPBACK, "localhost")
_TITLES = {
    Speaks.OPENAI: "OpenAI's API",
    Speaks.OLLAMA: "Ollama's own API",
    Speaks.TGI: "the own API of Text Generation Inference",
    Speaks.LLAMACPP: "llama.cpp's own API",
    Speaks.TEI: "the own API of Text Embeddings Inference",
}


@dataclass(frozen=True, slots=True)
class CallLine:
    """A line to paste into a shell.

    Attributes:
        what: What it calls, in a few words.
    """

    what: str
    line: str


def call_lines(fleet: LiveFleet, folder: LiveFolder, here: Path) -> Iterator[CallLine]:
    """Yield a line through the gateway, if there is one, and one without it for each API that an engine speaks.

    Args:
        fleet: What is played.
        folder: Where addresses are, and the key of the gateway.
        here: The folder that the line is pasted in.
    """
    addresses, workloads = folder.addresses(), {f"{each.namespace}/{each.name}": each for each in fleet.workloads}
    shown: set[Speaks] = set()
    behind = [(each, workloads[next(iter(each.workloads))]) for each in fleet.endpoints if each.workloads]
    order = list(Speaks)
    talking = [(each, workload) for each, workload in behind if not workload.embeds and each.api == Speaks.OPENAI]
    talking.sort(key=lambda pair: order.index(pair[1].speaks))
    outside = next((each for each, _ in talking if each.outside), None)
    if addresses.door and outside:
        yield CallLine("through the gateway", _through_door(addresses, folder, outside, here))
    for endpoint, workload in talking:
        url = addresses.endpoints.get(endpoint.title)
        if url and workload.speaks not in shown:
            shown.add(workload.speaks)
            how = "without it" if addresses.door else "on this machine"
            yield CallLine(f"{how}, {_TITLES[workload.speaks]}", _direct(url, endpoint, workload))


def _through_door(addresses: Addresses, folder: LiveFolder, endpoint: ServedEndpoint, here: Path) -> str:
    """Return a line that goes through the gateway, with a key if it wants one."""
    door = urlsplit(addresses.door)
    words = ["-N", shlex.quote(f"{addresses.door_api}/chat/completions")]
    if door.hostname and door.hostname not in _HERE:
        words.insert(1, f"--resolve {shlex.quote(f'{door.hostname}:{door.port}:{LOOPBACK}')}")
    if folder.door_authority.exists() and door.scheme == "https":
        words.insert(1, f"--cacert {shlex.quote(_path(folder.door_authority, here))}")
    if folder.door_key.exists():
        words.append(f'-H "Authorization: Bearer $(cat {shlex.quote(_path(folder.door_key, here))})"')
    return _line(words, _chat(endpoint.model))


def _direct(url: str, endpoint: ServedEndpoint, workload: ServedWorkload) -> str:
    """Return a line that calls a model as its engine is called without a gateway; streaming where it generates."""
    base, model = _base(url), endpoint.model
    prompt: dict[Speaks, tuple[str, dict[str, Any]]] = {
        Speaks.OPENAI: (f"{url.rstrip('/')}/chat/completions", _chat(model)),
        Speaks.OLLAMA: (f"{base}/api/chat", {"model": model, "messages": _messages()}),
        Speaks.TGI: (
            f"{base}/generate_stream",
            {"inputs": _QUESTION, "parameters": {"max_new_tokens": _TOKENS}},
        ),
        Speaks.LLAMACPP: (f"{base}/completion", {"prompt": _QUESTION, "n_predict": _TOKENS, "stream": True}),
        Speaks.TEI: (f"{base}/embed", {"inputs": _QUESTION}),
    }
    address, body = prompt[workload.speaks]
    return _line(["-N", shlex.quote(address)], body)


def _line(words: list[str], body: dict[str, Any]) -> str:
    return " ".join(["curl", *words, "-H 'Content-Type: application/json' -d", shlex.quote(json.dumps(body))])


def _chat(model: str) -> dict[str, Any]:
    return {"model": model, "stream": True, "messages": _messages()}


def _messages() -> list[dict[str, str]]:
    return [{"role": "user", "content": _QUESTION}]


def _base(url: str) -> str:
    return url.rstrip("/").removesuffix(_VERSION)


def _path(file: Path, here: Path) -> str:
    """Return a path as it is shortest where the line is pasted."""
    return str(file.relative_to(here)) if file.is_relative_to(here) else str(file)
