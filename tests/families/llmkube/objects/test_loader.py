"""What the init container runs, in a real shell with a real curl, against a server that breaks off and changes."""

import hashlib
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from components.families.llmkube.weights import script

WEIGHTS, CHANGED = b"GGUF weights", b"GGUF other weights"
pytestmark = pytest.mark.skipif(
    not all(map(shutil.which, ("sh", "curl", "sha256sum", "cmp"))), reason="needs sh, curl, sha256sum and cmp"
)


@dataclass
class Hub:
    """What the server answers."""

    body: bytes = WEIGHTS
    etag: str = ""
    breaks_off: bool = False
    is_down: bool = False
    served: list[int] = field(default_factory=list)


class _Server(ThreadingHTTPServer):
    hub: Hub


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        assert isinstance(self.server, _Server)
        hub = self.server.hub
        if self.path == "/moved":
            self.send_response(302)
            self.send_header("Location", "/m.gguf")
            self.end_headers()
            return
        known = bool(hub.etag) and self.headers.get("If-None-Match") == hub.etag
        status = 500 if hub.is_down else 304 if known else 200
        hub.served.append(status)
        self.send_response(status)
        if hub.etag:
            self.send_header("ETag", hub.etag)
        if status == 200:
            self.send_header("Content-Length", str(len(hub.body)))
        self.end_headers()
        if status == 200:
            self.wfile.write(hub.body[:4] if hub.breaks_off else hub.body)

    def log_message(self, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture
def hub() -> Iterator[tuple[Hub, str]]:
    server = _Server(("127.0.0.1", 0), _Handler)
    server.hub = Hub()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server.hub, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@dataclass(frozen=True)
class Cache:
    """The folder of a model, as a pod sees it."""

    folder: Path

    @property
    def file(self) -> Path:
        return self.folder / "key" / "m1.gguf"

    @property
    def left(self) -> list[str]:
        """What a load must not leave behind."""
        return [path.name for path in self.file.parent.iterdir() if path.name.startswith(".part-")]

    def load(self, url: str, digest: str = "", *, on_change: bool = False, text: str = "") -> int:
        """Run the init container; the waits between tries are left out."""
        command = (text or script("http", on_change=on_change)).replace("--retry 3", "--retry 0")
        env = {
            "PATH": os.environ["PATH"],
            "HOSTNAME": "pod-1",
            "MODEL_SOURCE": url,
            "CACHE_DIR": str(self.file.parent),
            "MODEL_PATH": str(self.file),
            **({"MODEL_SHA256": digest} if digest else {}),
        }
        return subprocess.run(["sh", "-c", command], env=env, capture_output=True, check=False, timeout=60).returncode


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path)


def sha256(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def test_a_model_is_loaded_once(hub: tuple[Hub, str], cache: Cache) -> None:
    state, url = hub
    assert cache.load(f"{url}/moved") == 0
    assert cache.file.read_bytes() == WEIGHTS
    assert cache.load(f"{url}/moved") == 0
    assert state.served == [200]
    assert cache.left == []


def test_a_broken_download_is_not_taken_for_the_model(hub: tuple[Hub, str], cache: Cache) -> None:
    """Upstream counts what was loaded so far as cached (LLMKube spec 3.3)."""
    state, url = hub
    state.breaks_off = True
    assert cache.load(f"{url}/m.gguf") != 0
    assert not cache.file.exists()
    assert cache.left == []
    state.breaks_off = False
    assert cache.load(f"{url}/m.gguf") == 0
    assert cache.file.read_bytes() == WEIGHTS


def test_a_model_with_another_checksum_is_refused(hub: tuple[Hub, str], cache: Cache) -> None:
    _, url = hub
    assert cache.load(f"{url}/m.gguf", sha256(CHANGED)) != 0
    assert not cache.file.exists()
    assert cache.left == []
    assert cache.load(f"{url}/m.gguf", sha256(WEIGHTS)) == 0


def test_a_cached_model_is_held_against_a_checksum_that_came_later(hub: tuple[Hub, str], cache: Cache) -> None:
    state, url = hub
    assert cache.load(f"{url}/m.gguf") == 0
    assert cache.load(f"{url}/m.gguf", sha256(WEIGHTS)) == 0
    assert state.served == [200]
    state.body = CHANGED
    assert cache.load(f"{url}/m.gguf", sha256(CHANGED)) == 0
    assert cache.file.read_bytes() == CHANGED
    assert state.served == [200, 200]


def test_on_change_loads_what_changed_and_only_that(hub: tuple[Hub, str], cache: Cache) -> None:
    state, url = hub
    state.etag = '"one"'
    for _ in range(2):
        assert cache.load(f"{url}/m.gguf", on_change=True) == 0
    assert state.served == [200, 304]
    assert cache.file.read_bytes() == WEIGHTS
    state.body, state.etag = CHANGED, '"two"'
    assert cache.load(f"{url}/m.gguf", on_change=True) == 0
    assert cache.file.read_bytes() == CHANGED
    assert cache.left == []


def test_on_change_keeps_the_model_when_its_source_cannot_be_reached(hub: tuple[Hub, str], cache: Cache) -> None:
    state, url = hub
    assert cache.load(f"{url}/m.gguf", on_change=True) == 0
    state.is_down = True
    assert cache.load(f"{url}/m.gguf", on_change=True) == 0
    assert cache.file.read_bytes() == WEIGHTS
    cache.file.unlink()
    assert cache.load(f"{url}/m.gguf", on_change=True) != 0


def test_on_change_never_puts_half_a_model_in_the_place_of_a_whole_one(hub: tuple[Hub, str], cache: Cache) -> None:
    state, url = hub
    assert cache.load(f"{url}/m.gguf", on_change=True) == 0
    state.body, state.breaks_off = CHANGED, True
    assert cache.load(f"{url}/m.gguf", on_change=True) == 0
    assert cache.file.read_bytes() == WEIGHTS


@pytest.mark.parametrize("on_change", [False, True])
def test_a_file_of_the_node_is_copied(cache: Cache, tmp_path: Path, *, on_change: bool) -> None:
    host = tmp_path / "host.gguf"
    host.write_bytes(WEIGHTS)
    text = script("local", on_change=on_change).replace("/host-model/model.gguf", str(host))
    assert cache.load("/mnt/m.gguf", sha256(WEIGHTS), text=text) == 0
    assert cache.file.read_bytes() == WEIGHTS
    host.write_bytes(CHANGED)
    assert cache.load("/mnt/m.gguf", text=text) == 0
    assert cache.file.read_bytes() == (CHANGED if on_change else WEIGHTS)
