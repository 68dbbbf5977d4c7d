"""What the init container runs for several files and for buckets, in a real shell with a real curl."""

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

from components.families.llmkube.weights import files_script, script

FILES = {"/repo/a.gguf": b"first", "/repo/sub/b.gguf": b"second"}
NAMES = "a.gguf\nsub/b.gguf"
pytestmark = pytest.mark.skipif(not all(map(shutil.which, ("sh", "curl"))), reason="needs sh and curl")


@dataclass
class Store:
    """What the server has, and what it was asked for."""

    files: dict[str, bytes] = field(default_factory=lambda: dict(FILES))
    is_down: bool = False
    served: list[tuple[str, int]] = field(default_factory=list)
    signed: list[str] = field(default_factory=list)


class _Server(ThreadingHTTPServer):
    store: Store


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        assert isinstance(self.server, _Server)
        store = self.server.store
        body = store.files.get(self.path, b"")
        etag = f'"{body.decode()}"'
        known = self.headers.get("If-None-Match") == etag
        status = 500 if store.is_down else 404 if not body else 304 if known else 200
        store.served.append((self.path, status))
        store.signed.append(self.headers.get("Authorization", ""))
        self.send_response(status)
        if status in (200, 304):
            self.send_header("ETag", etag)
        self.send_header("Content-Length", str(len(body) if status == 200 else 0))
        self.end_headers()
        if status == 200:
            self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture
def store() -> Iterator[tuple[Store, str]]:
    server = _Server(("127.0.0.1", 0), _Handler)
    server.store = Store()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server.store, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def run(folder: Path, text: str, **env: str) -> int:
    command = text.replace("--retry 3", "--retry 0")
    needed = {"PATH": os.environ["PATH"], "HOSTNAME": "pod-1", "CACHE_DIR": str(folder), **env}
    return subprocess.run(["sh", "-c", command], env=needed, capture_output=True, check=False, timeout=60).returncode


def found(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder without those that curl keeps beside them."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".etag")
    return {f"/repo/{path.relative_to(folder)}": path.read_bytes() for path in files}


@pytest.mark.parametrize("on_change", [False, True])
def test_every_file_is_loaded_once(store: tuple[Store, str], tmp_path: Path, *, on_change: bool) -> None:
    state, url = store
    text = files_script("http", on_change=on_change)
    for _ in range(2):
        assert run(tmp_path, text, MODEL_ADDRESS=f"{url}/repo", MODEL_FILES=NAMES) == 0
        assert found(tmp_path) == FILES
    assert [status for _, status in state.served] == ([200, 200, 304, 304] if on_change else [200, 200])


def test_a_file_that_changed_is_loaded_again(store: tuple[Store, str], tmp_path: Path) -> None:
    state, url = store
    text = files_script("http", on_change=True)
    assert run(tmp_path, text, MODEL_ADDRESS=f"{url}/repo", MODEL_FILES=NAMES) == 0
    state.files["/repo/sub/b.gguf"] = b"changed"
    assert run(tmp_path, text, MODEL_ADDRESS=f"{url}/repo", MODEL_FILES=NAMES) == 0
    assert found(tmp_path) == state.files


def test_a_source_that_is_down_leaves_what_is_there(store: tuple[Store, str], tmp_path: Path) -> None:
    state, url = store
    text = files_script("http", on_change=True)
    state.is_down = True
    assert run(tmp_path, text, MODEL_ADDRESS=f"{url}/repo", MODEL_FILES=NAMES) != 0
    assert found(tmp_path) == {}
    state.is_down = False
    assert run(tmp_path, text, MODEL_ADDRESS=f"{url}/repo", MODEL_FILES=NAMES) == 0
    state.is_down = True
    assert run(tmp_path, text, MODEL_ADDRESS=f"{url}/repo", MODEL_FILES=NAMES) == 0
    assert found(tmp_path) == FILES


@pytest.mark.parametrize("on_change", [False, True])
def test_a_missing_file_fails_the_pod(store: tuple[Store, str], tmp_path: Path, *, on_change: bool) -> None:
    _, url = store
    names = "a.gguf\nmissing.gguf\nsub/b.gguf"
    text = files_script("http", on_change=on_change)
    assert run(tmp_path, text, MODEL_ADDRESS=f"{url}/repo", MODEL_FILES=names) != 0
    assert "/repo/missing.gguf" not in found(tmp_path)


CREDENTIALS = {"AWS_REGION": "eu-west-1", "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": 'se"cret\\'}


def test_a_bucket_is_read_with_the_credentials(store: tuple[Store, str], tmp_path: Path) -> None:
    state, url = store
    env = {**CREDENTIALS, "AWS_ENDPOINT_URL": f"{url}/", "MODEL_BUCKET": "repo"}
    text = files_script("bucket", on_change=False)
    state.files["/repo/qwen/a.gguf"] = b"in a bucket"
    assert run(tmp_path, text, **env, MODEL_OBJECT="qwen", MODEL_FILES="a.gguf") == 0
    assert (tmp_path / "a.gguf").read_bytes() == b"in a bucket"
    file = tmp_path / "m.gguf"
    text = script("bucket", on_change=False)
    assert (
        run(tmp_path, text, **env, MODEL_OBJECT="a.gguf", MODEL_PATH=str(file), MODEL_SOURCE="s3://repo/a.gguf") == 0
    )
    assert file.read_bytes() == b"first"
    (first, second) = state.signed
    for signature in (first, second):
        assert signature.startswith("AWS4-HMAC-SHA256 Credential=key/")
        assert "/eu-west-1/s3/aws4_request" in signature


def test_no_argument_of_a_process_has_the_secret() -> None:
    for text in (script("bucket", on_change=False), files_script("bucket", on_change=False)):
        curls = [line for line in text.splitlines() if "curl " in line]
        assert curls
        assert not any("SECRET" in line for line in curls)
