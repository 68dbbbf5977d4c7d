"""The preStop hooks, as a shell runs them, against servers that answer as the engines do.

Their answers, with the sources, are in expositions.yaml. The texts are those of prometheus_client, of
metrics-exporter-prometheus and of llama.cpp.
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
    is_hook_script,
    misread_gauge,
)
from components.engines.flags.tables import flags_of
from components.engines.metrics import engine_metrics
from components.engines.registry import engines
from tests.engines.draining_page import PAGE, page
from tests.engines.expositions import COPIES, Exposition, expositions
from tests.kubelet import SHELLS

pytestmark = pytest.mark.skipif(
    not (shutil.which("sh") and shutil.which("curl") and Path("/proc/net/tcp").exists()),
    reason="no shell, curl or /proc/net/tcp",
)
GRACE = 60
SELDOM = QUIET_SECONDS - 1
"""A pause after which a hook still asks again."""
ALL = list(expositions())
NEWEST = {each.engine: each for each in ALL}
"""Of each engine with gauges."""
VLLM = NEWEST["vllm"]


def named(each: Exposition) -> str:
    return f"{each.engine} from {'.'.join(map(str, each.span.since or ('the first',)))}"


def answers(each: Exposition, *requests: tuple[int, int], copies: int = 1) -> list[str]:
    """Return expositions with numbers of running and waiting requests."""
    return [each.text(dict(zip(each.gauges, numbers, strict=True)), copies) for numbers in requests]


WITHOUT_GAUGES = ("ollama", "tei", "tensorrt-llm", "personaplex", "")


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
    """A hook that has run, in virtual time: sleeping takes none, and an answer that does not come 5 seconds.

    Args:
        hook: The hook.
        folder: A folder for what stands for programs.
        shell: What runs it.
        curl: Whether there is curl.
        pause: Seconds that each of its pauses takes in the place of its own, so that it asks less often.
        patience: Seconds of real time after which there is no answer, which stand for 5.
        variables: Variables of the container.
    """

    def __init__(
        self,
        hook: Hook,
        folder: Path,
        *,
        shell: str = "sh",
        curl: bool = True,
        pause: int | None = None,
        patience: float = 30,
        **variables: str,
    ) -> None:
        programs = folder / "bin"
        programs.mkdir(exist_ok=True)
        clock = folder / "clock"
        clock.write_text("1000")
        fetch = f"""\
{shutil.which("curl")} "$@" -m {patience}
status=$?
[ $status = 28 ] && {programs}/sleep 5
exit $status"""
        scripts = {
            "date": f"cat {clock}",
            "sleep": f"echo $(($(cat {clock}) + {pause or '$1'})) > {clock}.new; mv {clock}.new {clock}",
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


def patience(answer: str | int | None) -> dict[str, Any]:
    """Return the arguments of a run that asks seldom, and does not wait long for an answer that does not come."""
    return {"pause": SELDOM} if answer is not None else {"pause": SELDOM - 5, "patience": 0.3}


def gave_up(ran: Ran) -> bool:
    bound = drain_bound(GRACE)
    return ran.status == 1 and bound <= ran.seconds <= bound + 7 and f"after {bound} seconds" in ran.output


@pytest.mark.parametrize("each", NEWEST.values(), ids=named)
class TestGauges:
    @pytest.mark.parametrize("shell", SHELLS)
    def test_it_ends_once_the_gauges_are_zero_although_a_gateway_stays_connected(
        self, each: Exposition, shell: str, tmp_path: Path
    ) -> None:
        with serving(*answers(each, (2, 0), (1, 1), (0, 1), (0, 0))) as server, client(server.port):
            ran = Ran(drain_hook(each.engine, server.port, GRACE), tmp_path, shell=shell)
        # The last request was seen at the third check, 4 seconds after the start.
        assert ran.result == (0, 4 + QUIET_SECONDS, "")

    def test_it_gives_up_before_the_kill(self, each: Exposition, tmp_path: Path) -> None:
        with serving(*answers(each, (1, 0))) as server, client(server.port):
            assert gave_up(Ran(drain_hook(each.engine, server.port, GRACE), tmp_path, pause=SELDOM))

    def test_a_late_request_is_waited_for(self, each: Exposition, tmp_path: Path) -> None:
        """Gateways send requests until they know of the end."""
        with serving(*answers(each, (0, 0), (0, 0), (0, 0), (1, 0), (0, 0))) as server, client(server.port):
            ran = Ran(drain_hook(each.engine, server.port, GRACE), tmp_path)
        assert ran.result == (0, 6 + QUIET_SECONDS, "")


class TestEveryVersion:
    """The gauges of every version, with other metrics beside them that are never zero."""

    PAUSE = 4
    """One idle answer between two busy ones does not end the hook, and two idle ones do."""

    @pytest.mark.parametrize("each", ALL, ids=named)
    def test_each_gauge_counts_in_any_engine_of_the_server(self, each: Exposition, tmp_path: Path) -> None:
        variants = [1, COPIES] if "copies" in each.row else [1, 1]
        idle = [each.text({}, copies) for copies in variants]
        busy = [each.text({gauge: 1}, copies) for copies in variants for gauge in each.gauges]
        given = [text for text in busy for text in (text, idle[0])][:-1] + idle
        with serving(*given) as server, client(server.port):
            ran = Ran(drain_hook(each.engine, server.port, 3600), tmp_path, pause=self.PAUSE)
        assert ran.result == (0, len(given) * self.PAUSE, "")
        assert server.asked == len(given)

    @pytest.mark.parametrize("each", NEWEST.values(), ids=named)
    def test_without_statistics_or_an_answer_connections_count(self, each: Exposition, tmp_path: Path) -> None:
        with serving(each.row["disabled"], None) as server:
            hook = drain_hook(each.engine, server.port, GRACE)
            with client(server.port):
                assert gave_up(Ran(hook, tmp_path, **patience(None)))
            assert Ran(hook, tmp_path, **patience(None)).status == 0

    @pytest.mark.parametrize("engine", NEWEST)
    def test_every_version_of_the_tables_has_one_exposition(self, engine: str) -> None:
        """Rows follow one another without gaps, so that every build of a range has one too."""
        rows = [each for each in ALL if each.engine == engine]
        assert [each.span.since for each in rows] == [None, *(each.span.until for each in rows[:-1])]
        assert rows[-1].span.until is None
        flags = flags_of(engine)
        assert flags is not None
        assert len(flags.releases) > 10
        for release in flags.releases:
            assert sum(each.span.includes(release) for each in rows) == 1, release


def test_stale_gauges_without_a_client_do_not_hold_the_pod(tmp_path: Path) -> None:
    """vLLM keeps the last values if its last requests are aborted (vllm-project/vllm issue 22545)."""
    with serving(*answers(VLLM, (106, 15))) as server:
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
            assert gave_up(Ran(drain_hook("vllm", server.port, GRACE), tmp_path, **patience(answer)))

    def test_without_connections_nobody_waits(self, answer: str | int | None, tmp_path: Path) -> None:
        with serving(answer) as server:
            ran = Ran(drain_hook("vllm", server.port, GRACE), tmp_path, **patience(answer))
        assert (ran.status, ran.errors) == (0, "")
        assert QUIET_SECONDS <= ran.seconds <= QUIET_SECONDS + SELDOM


@pytest.mark.parametrize("engine", WITHOUT_GAUGES)
class TestEnginesWithoutGauges:
    def test_connections_count(self, engine: str, tmp_path: Path) -> None:
        with serving("{}") as server:
            hook = drain_hook(engine, server.port, GRACE)
            with client(server.port):
                assert gave_up(Ran(hook, tmp_path, pause=SELDOM))
            assert Ran(hook, tmp_path).result == QUIET
            assert server.asked == 0

    def test_they_need_no_curl(self, engine: str, tmp_path: Path) -> None:
        with serving("{}") as server:
            assert Ran(drain_hook(engine, server.port, GRACE), tmp_path, curl=False).result == QUIET


def test_without_curl_connections_count(tmp_path: Path) -> None:
    with serving(*answers(VLLM, (0, 0))) as server:
        hook = drain_hook("vllm", server.port, GRACE)
        assert Ran(hook, tmp_path, curl=False).result == QUIET
        with client(server.port):
            assert gave_up(Ran(hook, tmp_path, curl=False, pause=SELDOM))


@pytest.mark.parametrize("engine", [*engine_metrics(), ""])
def test_a_server_that_has_ended_or_not_started_is_not_waited_for(engine: str, tmp_path: Path) -> None:
    with serving("") as server:
        port = server.port
    assert Ran(drain_hook(engine, port, GRACE), tmp_path).result == AT_ONCE


def test_a_server_that_crashes_meanwhile_ends_the_wait(tmp_path: Path) -> None:
    with serving(*answers(VLLM, (1, 0))) as server:
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
    with serving(*answers(VLLM, (1, 0), (0, 0), copies=2)) as server, client(server.port):
        began = time.monotonic()
        done = subprocess.run(drain_hook("vllm", server.port, GRACE)["preStop"]["exec"]["command"], check=False)
    assert done.returncode == 0
    assert time.monotonic() - began >= QUIET_SECONDS


@pytest.mark.parametrize("value", ["$(touch ran)", "`touch ran`", "'; touch ran; '", '"; touch ran; "', "\\", "*"])
@pytest.mark.parametrize("shell", SHELLS)
def test_what_a_server_answers_is_never_run(value: str, shell: str, tmp_path: Path) -> None:
    answer = f"vllm:num_requests_running {value}\nvllm:num_requests_running{{a={value}}} {value}\n"
    with serving(answer) as server, client(server.port):
        Ran(drain_hook("vllm", server.port, GRACE), tmp_path, shell=shell, pause=SELDOM)
        hook = follower_hook("vllm", "LEADER", server.port, GRACE)
        assert hook is not None
        Ran(hook, tmp_path, shell=shell, pause=SELDOM, LEADER="127.0.0.1")
    assert not (tmp_path / "ran").exists()


class TestFollowers:
    @pytest.mark.parametrize("shell", SHELLS)
    @pytest.mark.parametrize("each", NEWEST.values(), ids=named)
    def test_they_stay_until_the_leader_has_no_requests(self, each: Exposition, shell: str, tmp_path: Path) -> None:
        with serving(*answers(each, (2, 0), (0, 1), (0, 0))) as server:
            hook = follower_hook(each.engine, "LEADER", server.port, GRACE)
            assert hook is not None
            ran = Ran(hook, tmp_path, shell=shell, LEADER="127.0.0.1")
        assert ran.result == (0, 2 + QUIET_SECONDS, "")

    @pytest.mark.parametrize("answer", [404, None, ""])
    def test_a_leader_that_does_not_tell_is_waited_for(self, answer: str | int | None, tmp_path: Path) -> None:
        """It ends by itself: then its port is closed."""
        with serving(answer) as server:
            hook = follower_hook("vllm", "LEADER", server.port, GRACE)
            assert hook is not None
            assert gave_up(Ran(hook, tmp_path, LEADER="127.0.0.1", **patience(answer)))
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
    assert {*NEWEST, *WITHOUT_GAUGES} == {*engines(), ""}


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
            ("vllm/vllm-openai:v0.20.0", {"hook": {"exec": {"command": ["true"]}}}, 0, 0),
            ("vllm/vllm-openai:v0.20.0", {"hook": {"exec": {"command": ["sh", "-c", "sleep 10; kill 1"]}}}, 10, 10),
            ("vllm/vllm-openai:v0.20.0", {"hook": {"exec": {"command": ["sh", "-c", "kill 1; sleep 9"]}}}, 0, 0),
            (
                "vllm/vllm-openai:v0.20.0",
                {"hook": {"exec": {"command": ["sh", "-c", "echo x && sleep .5m"]}}},
                30,
                30,
            ),
            (
                "vllm/vllm-openai:v0.20.0",
                {"hook": {"exec": {"command": ["sh", "-c", "sleep 3\nexec sleep 4s"]}}},
                7,
                7,
            ),
            ("vllm/vllm-openai:v0.20.0", {"hook": {"exec": {"command": ["sh", "-c", "sleep $WAIT"]}}}, 45, None),
            (
                "vllm/vllm-openai:v0.20.0",
                {"hook": {"exec": {"command": ["sh", "-c", "while kill -0 1; do sleep 1; done"]}}},
                45,
                None,
            ),
            ("vllm/vllm-openai:v0.20.0", {"hook": {"exec": {"command": ["sh", "-c", "curl x; sleep 5"]}}}, 45, None),
            ("vllm/vllm-openai:v0.10.0", {"args": ["--shutdown-timeout", "45"]}, 0, 0),
            ("vllm/vllm-openai:nightly", {"args": ["--shutdown-timeout", "45"]}, 45, None),
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


@pytest.mark.parametrize(
    ("script", "tag", "found"),
    [
        ("grep '^vllm:num_requests_waiting' | awk '{print $2}'", "v0.20.0", True),
        ("awk '/^vllm:num_requests_waiting/ {print $2}'", "v0.25.1", True),
        ("grep vllm:num_requests_waiting | cut -d' ' -f2", "latest", True),
        ("grep '^vllm:num_requests_waiting' | awk '{print $2}'", "v0.19.0", False),
        ("grep '^vllm:num_requests_waiting{' | awk '{print $2}'", "v0.20.0", False),
        ("grep -w 'vllm:num_requests_waiting' | awk '{print $2}'", "v0.20.0", False),
        ("grep '^vllm:num_requests_running' | awk '{print $2}'", "v0.20.0", False),
        (drain_hook("vllm", 8000, GRACE)["preStop"]["exec"]["command"][2], "v0.20.0", False),
        ("grep '^sglang:num_running_reqs' | awk '{print $2}'", "v0.5.1.post3", False),
        ("grep '^sglang:num_running_reqs' | awk '{print $2}'", "v0.5.2", True),
        ("grep '^sglang:num_running_reqs' | awk '{print $2}'", "v0.5.10.post1", True),
        ("grep '^sglang:num_running_reqs' | awk '{print $2}'", "v0.5.11", False),
        ("grep '^sglang:num_queue_reqs' | awk '{print $2}'", "v0.5.4", False),
    ],
)
def test_a_pattern_that_matches_two_metrics(script: str, tag: str, found: bool) -> None:
    hook = {"preStop": {"exec": {"command": ["/bin/sh", "-c", script]}}}
    sglang = "sglang:" in script
    container = {"image": f"{'lmsysorg/sglang' if sglang else 'vllm/vllm-openai'}:{tag}", "lifecycle": hook}
    longer = "sglang:num_running_reqs_offline_batch" if sglang else "vllm:num_requests_waiting_by_reason"
    expected = (longer.removesuffix("_offline_batch").removesuffix("_by_reason"), longer) if found else None
    assert misread_gauge(container, command_line_of(container)) == expected


class TestHookScript:
    """Reports show the scripts that this project writes, and no others."""

    @staticmethod
    def scripts(prefix: str = "") -> Iterator[str]:
        for engine in ("", *engine_metrics()):
            for port, grace in ((8000, 130), (80, 1), (65535, 1825), (9000, 30)):
                hooks = (
                    drain_hook(engine, port, grace, prefix),
                    follower_hook(engine, "LWS_LEADER_ADDRESS", port, grace, prefix),
                )
                for hook in filter(None, hooks):
                    yield hook["preStop"]["exec"]["command"][-1]

    @pytest.mark.parametrize("prefix", ["", "/models/v1"])
    def test_its_own(self, prefix: str) -> None:
        scripts = list(self.scripts(prefix))
        assert len(scripts) > 20
        assert all(map(is_hook_script, scripts))

    @pytest.mark.parametrize(
        ("found", "written"),
        [
            ("sleep 2", "sleep 2; echo marzipan"),
            ("# ", "# marzipan "),
            ("no request", "no marzipan"),
            ("done\n", "done\nexport PGPASSWORD=marzipan\n"),
        ],
    )
    def test_with_anything_else_in_it(self, found: str, written: str) -> None:
        for script in self.scripts():
            assert found in script
            assert not is_hook_script(script.replace(found, written))

    def test_with_a_path_that_looks_random(self) -> None:
        scripts = [script for script in self.scripts("/q7Zp2Lk9Xw4Rt8Vb3Nm6") if "http://" in script]
        assert scripts
        assert not any(map(is_hook_script, scripts))

    @pytest.mark.parametrize("text", ["", "sleep 5", "\n", "echo 'after 5 seconds\"\n'"])
    def test_of_others(self, text: str) -> None:
        assert not is_hook_script(text)
