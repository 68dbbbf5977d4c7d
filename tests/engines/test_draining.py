"""The preStop hooks, as a shell runs them, against servers that answer as the engines do.

Expositions: vllm/engine/metrics.py (0.7, the first engine) and vllm/v1/metrics/loggers.py (from 0.8 on), written by
prometheus_client; docs/references/production_metrics.md of SGLang; backends/v3/src/backend.rs of Text Generation
Inference, written by metrics-exporter-prometheus; tools/server/README.md of llama.cpp.
"""

import contextlib
import http.server
import os
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from components.engines.command_line import command_line_of
from components.engines.draining import (
    QUIET_SECONDS,
    STOP_SECONDS,
    Hook,
    aborting_seconds,
    drain_bound,
    drain_hook,
    finishing_seconds,
    follower_hook,
)
from components.engines.metrics import engine_metrics
from components.engines.registry import engines
from tests.engines.draining_page import PAGE, page
from tests.kubelet import SHELLS

pytestmark = pytest.mark.skipif(
    not (shutil.which("sh") and shutil.which("curl") and Path("/proc/net/tcp").exists()),
    reason="no shell, curl or /proc/net/tcp",
)
GRACE = 60
LABELS = 'model_name="{a b} \\"c\\" 7"'
"""A model's name with everything that a label may contain."""


def gauge(name: str, *series: str) -> str:
    lines = [f"# HELP {name} Number of requests, 5 for example.", f"# TYPE {name} gauge", *series]
    return "".join(f"{line}\n" for line in lines)


def vllm(running: str, waiting: str, *, by_reason: bool = False, created: bool = False, engines: int = 1) -> str:
    """Return the exposition of a vLLM server, whose last engine has these requests."""
    counts = [("0.0", "0.0")] * (engines - 1) + [(running, waiting)]
    labels = [f'engine="{index}",{LABELS}' for index in range(engines)]
    text = gauge(
        "vllm:num_requests_running",
        *(f"vllm:num_requests_running{{{label}}} {run}" for label, (run, _) in zip(labels, counts, strict=True)),
    )
    text += gauge(
        "vllm:num_requests_waiting",
        *(f"vllm:num_requests_waiting{{{label}}} {wait}" for label, (_, wait) in zip(labels, counts, strict=True)),
    )
    if by_reason:
        # From 0.20 on; a part of the metric above, here with values of its own to show that it is not read.
        name = "vllm:num_requests_waiting_by_reason"
        reasons = ("capacity", "deferred")
        text += gauge(name, *(f'{name}{{{labels[0]},reason="{reason}"}} 3.0' for reason in reasons))
    text += "# HELP vllm:prompt_tokens_total Number of prefill tokens processed.\n"
    text += f"# TYPE vllm:prompt_tokens_total counter\nvllm:prompt_tokens_total{{{labels[0]}}} 8.128902e+06\n"
    if created:
        text += f"# TYPE vllm:prompt_tokens_created gauge\nvllm:prompt_tokens_created{{{labels[0]}}} 1.7e+09\n"
    return text


def first_vllm(running: str, waiting: str) -> str:
    """Return the exposition of vLLM 0.7 with its first engine."""
    return "".join(
        gauge(f"vllm:num_requests_{kind}", f"vllm:num_requests_{kind}{{{LABELS}}} {count}")
        for kind, count in (("running", running), ("swapped", "0.0"), ("waiting", waiting))
    )


def sglang(running: str, queued: str) -> str:
    label = f'{LABELS},engine_type="unified",tp_rank="0",pp_rank="0"'
    return "".join(
        gauge(name, f"{name}{{{label}}} {count}")
        for name, count in (
            ("sglang:num_running_reqs", running),
            ("sglang:num_running_reqs_offline_batch", "4.0"),
            ("sglang:num_queue_reqs", queued),
            ("sglang:num_grammar_queue_reqs", "4.0"),
        )
    )


def tgi(running: str, queued: str) -> str:
    return (
        f"# TYPE tgi_batch_current_size gauge\ntgi_batch_current_size {running}\n\n"
        "# TYPE tgi_batch_current_max_tokens gauge\ntgi_batch_current_max_tokens 4096\n\n"
        f"# TYPE tgi_queue_size gauge\ntgi_queue_size {queued}\n\n"
        'tgi_request_queue_duration_bucket{le="0.001"} 3\n'
    )


def llamacpp(running: str, queued: str) -> str:
    return gauge("llamacpp:requests_processing", f"llamacpp:requests_processing {running}") + gauge(
        "llamacpp:requests_deferred", f"llamacpp:requests_deferred {queued}"
    )


EXPOSITIONS = {
    "vllm 0.7.3": ("vllm", first_vllm),
    "vllm 0.8.2": ("vllm", vllm),
    "vllm 0.14 with created series": ("vllm", lambda run, wait: vllm(run, wait, created=True)),
    "vllm 0.20": ("vllm", lambda run, wait: vllm(run, wait, by_reason=True)),
    "vllm 0.33, data parallel": ("vllm", lambda run, wait: vllm(run, wait, by_reason=True, engines=4)),
    "sglang": ("sglang", sglang),
    "tgi": ("tgi", tgi),
    "llamacpp": ("llamacpp", llamacpp),
}
WITHOUT_GAUGES = ("ollama", "tensorrt-llm", "personaplex", "")


class Server:
    """A server on a loopback port.

    Args:
        answers: Its answers to ``/metrics``, one after another; the last one is repeated. A number is an HTTP status;
            None is no answer at all.
    """

    def __init__(self, *answers: str | int | None) -> None:
        self.answers = [*answers]
        self.asked = 0
        self.stop = threading.Event()
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                server.asked += 1
                answer = server.answers.pop(0) if len(server.answers) > 1 else server.answers[0]
                if answer is None or self.path != "/metrics":
                    server.stop.wait(30)
                    return
                body = answer.encode() if isinstance(answer, str) else b"not here"
                self.send_response(200 if isinstance(answer, str) else answer)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.port = self.http.server_address[1]
        threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def close(self) -> None:
        self.stop.set()
        self.http.shutdown()
        self.http.server_close()


@contextlib.contextmanager
def serving(*answers: str | int | None) -> Iterator[Server]:
    server = Server(*answers)
    try:
        yield server
    finally:
        server.close()


@contextlib.contextmanager
def client(port: int) -> Iterator[socket.socket]:
    """Keep a connection open, as a stream and a gateway do."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        yield connection


class Ran:
    """A hook that has run, in virtual time: sleeping takes none, and an answer that does not come 5 seconds."""

    def __init__(self, hook: Hook, folder: Path, *, shell: str = "sh", curl: bool = True, **variables: str) -> None:
        programs = folder / "bin"
        programs.mkdir(exist_ok=True)
        clock = folder / "clock"
        clock.write_text("1000")
        fetch = f"""\
{shutil.which("curl")} "$@" -m 0.3
status=$?
[ $status = 28 ] && {programs}/sleep 5
exit $status"""
        scripts = {
            "date": f"cat {clock}",
            "sleep": f"echo $(($(cat {clock}) + $1)) > {clock}.new; mv {clock}.new {clock}",
            "curl": fetch if curl else "exit 127",
        }
        for name, script in scripts.items():
            (programs / name).write_text(f"#!/bin/sh\n{script}\n")
            (programs / name).chmod(0o755)
        _, flag, text = hook["preStop"]["exec"]["command"]
        env = {
            **os.environ,
            **variables,
            "PATH": f"{programs}:{os.environ['PATH']}",
            "http_proxy": "http://127.0.0.1:1",
        }
        done = subprocess.run(
            [shell, flag, text], env=env, cwd=folder, capture_output=True, text=True, timeout=60, check=False
        )
        self.status, self.output, self.errors = done.returncode, done.stdout, done.stderr
        self.seconds = int(clock.read_text()) - 1000

    @property
    def result(self) -> tuple[int, int, str]:
        return self.status, self.seconds, self.errors


QUIET = (0, QUIET_SECONDS, "")
AT_ONCE = (0, 0, "")


def gave_up(ran: Ran) -> bool:
    bound = drain_bound(GRACE)
    return ran.status == 1 and bound <= ran.seconds <= bound + 7 and f"after {bound} seconds" in ran.output


@pytest.mark.parametrize("name", EXPOSITIONS)
class TestGauges:
    @pytest.mark.parametrize("shell", SHELLS)
    def test_it_ends_once_the_gauges_are_zero_although_a_gateway_stays_connected(
        self, name: str, shell: str, tmp_path: Path
    ) -> None:
        engine, exposition = EXPOSITIONS[name]
        busy = [exposition("2.0", "0.0"), exposition("1.0", "1.0"), exposition("0.0", "1.0")]
        with serving(*busy, exposition("0.0", "0.0")) as server, client(server.port):
            ran = Ran(drain_hook(engine, server.port, GRACE), tmp_path, shell=shell)
        # The last request was seen at the third check, 4 seconds after the start.
        assert ran.result == (0, 4 + QUIET_SECONDS, "")

    def test_it_gives_up_before_the_kill(self, name: str, tmp_path: Path) -> None:
        engine, exposition = EXPOSITIONS[name]
        with serving(exposition("1", "0")) as server, client(server.port):
            assert gave_up(Ran(drain_hook(engine, server.port, GRACE), tmp_path))

    def test_a_late_request_is_waited_for(self, name: str, tmp_path: Path) -> None:
        """Gateways send requests until they know of the end."""
        engine, exposition = EXPOSITIONS[name]
        idle, busy = exposition("0.0", "0.0"), exposition("1.0", "0.0")
        with serving(idle, idle, idle, busy, idle) as server, client(server.port):
            ran = Ran(drain_hook(engine, server.port, GRACE), tmp_path)
        assert ran.result == (0, 6 + QUIET_SECONDS, "")


def test_stale_gauges_without_a_client_do_not_hold_the_pod(tmp_path: Path) -> None:
    """vLLM keeps the last values if its last requests are aborted (vllm-project/vllm issue 22545)."""
    with serving(vllm("106.0", "15.0")) as server:
        assert Ran(drain_hook("vllm", server.port, GRACE), tmp_path).result == QUIET


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param("# TYPE http_requests_total counter\nhttp_requests_total 7.0\n", id="no statistics"),
        pytest.param("", id="empty"),
        pytest.param("vllm:num_requests_waiting_by_reason{} 0.0\n", id="similar names"),
        pytest.param(404, id="404"),
        pytest.param(401, id="api key"),
        pytest.param(503, id="503"),
        pytest.param(None, id="no answer"),
    ],
)
class TestWithoutGauges:
    def test_an_open_connection_may_be_a_stream(self, answer: str | int | None, tmp_path: Path) -> None:
        with serving(answer) as server, client(server.port):
            assert gave_up(Ran(drain_hook("vllm", server.port, GRACE), tmp_path))

    def test_without_connections_nobody_waits(self, answer: str | int | None, tmp_path: Path) -> None:
        with serving(answer) as server:
            ran = Ran(drain_hook("vllm", server.port, GRACE), tmp_path)
        assert (ran.status, ran.errors) == (0, "")
        assert QUIET_SECONDS <= ran.seconds <= QUIET_SECONDS + 5


@pytest.mark.parametrize("engine", WITHOUT_GAUGES)
class TestEnginesWithoutGauges:
    def test_connections_count(self, engine: str, tmp_path: Path) -> None:
        with serving("{}") as server:
            hook = drain_hook(engine, server.port, GRACE)
            with client(server.port):
                assert gave_up(Ran(hook, tmp_path))
            assert Ran(hook, tmp_path).result == QUIET
            assert server.asked == 0

    def test_they_need_no_curl(self, engine: str, tmp_path: Path) -> None:
        with serving("{}") as server:
            assert Ran(drain_hook(engine, server.port, GRACE), tmp_path, curl=False).result == QUIET


def test_without_curl_connections_count(tmp_path: Path) -> None:
    with serving(vllm("0.0", "0.0")) as server:
        hook = drain_hook("vllm", server.port, GRACE)
        assert Ran(hook, tmp_path, curl=False).result == QUIET
        with client(server.port):
            assert gave_up(Ran(hook, tmp_path, curl=False))


@pytest.mark.parametrize("engine", [*engine_metrics(), ""])
def test_a_server_that_has_ended_or_not_started_is_not_waited_for(engine: str, tmp_path: Path) -> None:
    with serving("") as server:
        port = server.port
    assert Ran(drain_hook(engine, port, GRACE), tmp_path).result == AT_ONCE


def test_a_server_that_crashes_meanwhile_ends_the_wait(tmp_path: Path) -> None:
    with serving(vllm("1.0", "0.0")) as server:
        hook = drain_hook("vllm", server.port, 3600)
        with client(server.port):
            timer = threading.Timer(1, server.close)
            timer.start()
            ran = Ran(hook, tmp_path)
            timer.join()
    assert ran.status == 0
    assert ran.seconds < drain_bound(3600)


def test_it_runs_in_real_time_too(tmp_path: Path) -> None:
    """As the kubelet runs it: with the real clock, and without anything on the path."""
    with serving(vllm("1.0", "0.0"), vllm("0.0", "0.0", by_reason=True, engines=2)) as server, client(server.port):
        began = time.monotonic()
        done = subprocess.run(drain_hook("vllm", server.port, GRACE)["preStop"]["exec"]["command"], check=False)
    assert done.returncode == 0
    assert QUIET_SECONDS <= time.monotonic() - began <= QUIET_SECONDS + 5


@pytest.mark.parametrize("value", ["$(touch ran)", "`touch ran`", "'; touch ran; '", '"; touch ran; "', "\\", "*"])
@pytest.mark.parametrize("shell", SHELLS)
def test_what_a_server_answers_is_never_run(value: str, shell: str, tmp_path: Path) -> None:
    answer = f"vllm:num_requests_running {value}\nvllm:num_requests_running{{a={value}}} {value}\n"
    with serving(answer) as server, client(server.port):
        Ran(drain_hook("vllm", server.port, GRACE), tmp_path, shell=shell)
        Ran(follower_hook("vllm", "LEADER", server.port, GRACE) or {}, tmp_path, shell=shell, LEADER="127.0.0.1")
    assert not (tmp_path / "ran").exists()


class TestFollowers:
    @pytest.mark.parametrize("shell", SHELLS)
    @pytest.mark.parametrize("name", EXPOSITIONS)
    def test_they_stay_until_the_leader_has_no_requests(self, name: str, shell: str, tmp_path: Path) -> None:
        engine, exposition = EXPOSITIONS[name]
        with serving(exposition("2.0", "0.0"), exposition("0.0", "1.0"), exposition("0.0", "0.0")) as server:
            hook = follower_hook(engine, "LEADER", server.port, GRACE)
            assert hook is not None
            ran = Ran(hook, tmp_path, shell=shell, LEADER="127.0.0.1")
        assert ran.result == (0, 2 + QUIET_SECONDS, "")

    @pytest.mark.parametrize("answer", [404, None, ""])
    def test_a_leader_that_does_not_tell_is_waited_for(self, answer: str | int | None, tmp_path: Path) -> None:
        """It ends by itself: then its port is closed."""
        with serving(answer) as server:
            hook = follower_hook("vllm", "LEADER", server.port, GRACE)
            assert hook is not None
            assert gave_up(Ran(hook, tmp_path, LEADER="127.0.0.1"))
        assert Ran(hook, tmp_path, LEADER="127.0.0.1").result == QUIET

    def test_a_leader_without_an_address_is_gone(self, tmp_path: Path) -> None:
        hook = follower_hook("vllm", "LEADER", 8000, GRACE)
        assert hook is not None
        assert Ran(hook, tmp_path, LEADER="leader.invalid").result == QUIET

    def test_without_curl_they_end(self, tmp_path: Path) -> None:
        hook = follower_hook("vllm", "LEADER", 8000, GRACE)
        assert hook is not None
        assert Ran(hook, tmp_path, curl=False, LEADER="127.0.0.1").result == QUIET

    @pytest.mark.parametrize("engine", WITHOUT_GAUGES)
    def test_without_gauges_there_is_no_hook(self, engine: str) -> None:
        assert follower_hook(engine, "LEADER", 8000, GRACE) is None


def test_every_engine_of_the_tables_is_run_here() -> None:
    named = {engine for engine, _ in EXPOSITIONS.values()} | {*WITHOUT_GAUGES}
    assert named == {*engines(), ""}


@pytest.mark.parametrize(("grace", "bound"), [(130, 115), (300, 285), (30, 15), (20, 10), (0, 0)])
def test_the_bound_leaves_time_to_stop(grace: int, bound: int) -> None:
    assert drain_bound(grace) == bound
    assert bound + STOP_SECONDS <= grace or bound <= grace / 2


def test_a_prefix_of_the_server_is_part_of_the_path() -> None:
    text = drain_hook("llamacpp", 8080, GRACE, "/chat")["preStop"]["exec"]["command"][2]
    assert '"http://localhost:8080/chat/metrics"' in text


def test_the_hooks_of_the_documentation_are_these() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run python -m tests.engines.draining_page"


class TestTimeForRequests:
    """``finishing_seconds``: how long the requests in progress have."""

    @pytest.mark.parametrize(
        ("image", "fields", "seconds", "aborted"),
        [
            ("vllm/vllm-openai:v0.20.0", {}, 0, 0),
            ("vllm/vllm-openai:v0.20.0", {"args": ["--shutdown-timeout=45"]}, 45, None),
            ("vllm/vllm-openai:v0.20.0", {"args": ["--shutdown-timeout", "0"]}, 0, 0),
            ("vllm/vllm-openai:v0.20.0", {"args": ["--shutdown-timeout", "900"]}, GRACE, None),
            ("vllm/vllm-openai:v0.20.0", {"hook": {"sleep": {"seconds": 15}}}, 15, 15),
            ("vllm/vllm-openai:v0.20.0", {"hook": {"exec": {"command": ["/bin/sleep", "15"]}}}, 15, 15),
            ("vllm/vllm-openai:v0.20.0", {"hook": {"exec": {"command": ["sh", "-c", "sleep 15"]}}}, 15, 15),
            ("vllm/vllm-openai:v0.20.0", {"hook": {"exec": {"command": ["sh", "-c", "./wait"]}}}, 45, None),
            ("vllm/vllm-openai:v0.20.0", {"hook": {"httpGet": {"port": 8000, "path": "/"}}}, 0, 0),
            ("ghcr.io/ggml-org/llama.cpp:server-b6500", {}, 0, 0),
            ("ollama/ollama:0.12.6", {}, 0, 0),
            ("lmsysorg/sglang:v0.5.4", {}, GRACE, None),
            ("ghcr.io/huggingface/text-generation-inference:3.3.6", {}, GRACE, None),
            ("nvcr.io/nvidia/tritonserver:25.09-trtllm-python-py3", {}, GRACE, None),
            ("example.com/unknown:1", {}, GRACE, None),
        ],
    )
    def test_it(self, image: str, fields: dict[str, Any], seconds: float, aborted: float | None) -> None:
        container = {"image": image, "args": fields.get("args", []), "lifecycle": {"preStop": fields.get("hook", {})}}
        line = command_line_of(container)
        assert finishing_seconds(container, line, GRACE) == seconds
        assert aborting_seconds(container, line) == aborted

    def test_text_generation_inference_waits_for_90_seconds(self) -> None:
        container = {"image": "ghcr.io/huggingface/text-generation-inference:3.3.6"}
        assert finishing_seconds(container, command_line_of(container), 300) == 90

    def test_our_own_hook_waits(self) -> None:
        container = {"image": "vllm/vllm-openai:v0.20.0", "lifecycle": drain_hook("vllm", 8000, GRACE)}
        line = command_line_of(container)
        assert finishing_seconds(container, line, GRACE) == drain_bound(GRACE)
        assert aborting_seconds(container, line) is None
