"""curl command lines that call the models of a running fleet."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from components.contract.texts.outputs import shell_word
from toolkit.ports import LOOPBACK

from .fleet import LiveFleet, ServedEndpoint, ServedWorkload, Speaks
from .folder import Addresses, LiveFolder

_QUESTION = "Why is the sky blue?"
_TOKENS = 40
_VERSION = "/v1"
_LOCAL_HOSTS = (LOOPBACK, "localhost")
_TITLES = {
    Speaks.OPENAI: "OpenAI's API",
    Speaks.OLLAMA: "Ollama's native API",
    Speaks.TGI: "the native API of Text Generation Inference",
    Speaks.LLAMACPP: "llama.cpp's native API",
    Speaks.TEI: "the native API of Text Embeddings Inference",
}


@dataclass(frozen=True, slots=True)
class CallLine:
    """A command line to paste into a shell.

    Attributes:
        what: The API that it calls, in a few words.
    """

    what: str
    line: str


def call_lines(fleet: LiveFleet, folder: LiveFolder, cwd: Path) -> Iterator[CallLine]:
    """Yield a line that goes through the gateway, if there is one, and one line without it per engine API.

    Args:
        fleet: The running fleet.
        folder: Files of the fleet, with its addresses and the gateway's key.
        cwd: Working directory of the shell.
    """
    addresses, workloads = folder.addresses(), {workload.key: workload for workload in fleet.workloads}
    order = list(Speaks)
    pairs = [
        (endpoint, workloads[next(iter(endpoint.workloads))]) for endpoint in fleet.endpoints if endpoint.workloads
    ]
    chats = [
        (endpoint, workload) for endpoint, workload in pairs if not workload.embeds and endpoint.api == Speaks.OPENAI
    ]
    chats.sort(key=lambda pair: order.index(pair[1].speaks))
    exposed = next((endpoint for endpoint, _ in chats if endpoint.outside), None)
    if addresses.door and exposed:
        yield CallLine("through the gateway", _gateway_line(addresses, folder, exposed, cwd))
    yielded: set[Speaks] = set()
    for endpoint, workload in chats:
        url = addresses.endpoints.get(endpoint.title)
        if url and workload.speaks not in yielded:
            yielded.add(workload.speaks)
            route = "without it" if addresses.door else "on this machine"
            yield CallLine(f"{route}, {_TITLES[workload.speaks]}", _direct_line(url, endpoint, workload))


def _gateway_line(addresses: Addresses, folder: LiveFolder, endpoint: ServedEndpoint, cwd: Path) -> str:
    door = urlsplit(addresses.door)
    words = ["-N", shell_word(f"{addresses.door_api}/chat/completions")]
    if door.hostname and door.hostname not in _LOCAL_HOSTS:
        words.insert(1, f"--resolve {shell_word(f'{door.hostname}:{door.port}:{LOOPBACK}')}")
    if folder.door_authority.exists() and door.scheme == "https":
        words.insert(1, f"--cacert {shell_word(_path(folder.door_authority, cwd))}")
    if folder.door_key.exists():
        words.append(f'-H "Authorization: Bearer $(cat {shell_word(_path(folder.door_key, cwd))})"')
    return _line(words, _chat(endpoint.model))


def _direct_line(url: str, endpoint: ServedEndpoint, workload: ServedWorkload) -> str:
    base, model = url.rstrip("/").removesuffix(_VERSION), endpoint.model
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
    return _line(["-N", shell_word(address)], body)


def _line(words: list[str], body: dict[str, Any]) -> str:
    return " ".join(["curl", *words, "-H 'Content-Type: application/json' -d", shell_word(json.dumps(body))])


def _chat(model: str) -> dict[str, Any]:
    return {"model": model, "stream": True, "messages": _messages()}


def _messages() -> list[dict[str, str]]:
    return [{"role": "user", "content": _QUESTION}]


def _path(file: Path, cwd: Path) -> str:
    return str(file.relative_to(cwd)) if file.is_relative_to(cwd) else str(file)
