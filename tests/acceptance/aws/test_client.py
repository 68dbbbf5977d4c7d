"""The client that runs in a pod, against servers on loopback."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.acceptance.conftest import ROOT
from toolkit.ports import LOOPBACK, free_ports

CLIENT = ROOT / "tools/acceptance/client.py"
KEY = "the-key"


class Gateway(BaseHTTPRequestHandler):
    """A stand-in for the gateway and the engine behind it; ``last`` is the last event of its stream."""

    last = b"data: [DONE]\n\n"

    def do_POST(self) -> None:
        sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        allowed = self.headers["Authorization"] == f"Bearer {KEY}"
        asked = self.path == "/v1/chat/completions" and sent["model"] == "m" and sent["stream"]
        self.send_response(200 if allowed and asked else 401 if asked else 404)
        self.end_headers()
        self.wfile.write(b'data: {"choices": []}\n\n' + self.last)

    def log_message(self, *_: object) -> None:
        """Silence."""


@contextmanager
def serving(last: bytes = Gateway.last) -> Iterator[str]:
    handler = type("Handler", (Gateway,), {"last": last})
    with ThreadingHTTPServer((LOOPBACK, 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"{LOOPBACK}:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def run(address: str, key: str = KEY, **settings: str) -> dict[str, int]:
    env = {"ADDRESS": address, "PATH_PREFIX": "/v1", "MODEL": "m", "KEY": key, "SECONDS": "0", "THREADS": "1"}
    command = [sys.executable, "-I", str(CLIENT)]
    done = subprocess.run(command, env={**env, **settings}, capture_output=True, text=True, check=True)
    counts: dict[str, int] = json.loads(done.stdout)
    return counts


def test_answers_are_counted() -> None:
    with serving() as address:
        assert run(address) == {"completed": 1}
        assert run(address, key="") == {"status 401": 1}
        assert run(address, PATH_PREFIX="/v2") == {"status 404": 1}
        counts = run(address, SECONDS="1", THREADS="2")
    assert counts.keys() == {"completed"}
    assert counts["completed"] >= 4


def test_a_stream_without_its_end_was_cut_off() -> None:
    with serving(b"") as address:
        assert run(address) == {"cut off": 1}


def test_a_refused_connection_is_a_failed_request() -> None:
    (port,) = free_ports(1)
    assert run(f"{LOOPBACK}:{port}") == {"ConnectionRefusedError": 1}


@pytest.mark.parametrize("name", ["client.py"])
def test_it_needs_nothing_but_the_interpreter(name: str) -> None:
    """The image has no packages."""
    text = (Path(CLIENT).parent / name).read_text()
    imported = {
        line.split()[1].partition(".")[0] for line in text.splitlines() if line.startswith(("import", "from"))
    }
    assert imported <= sys.stdlib_module_names
