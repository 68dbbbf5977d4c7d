"""The preStop hooks with which a pod finishes its requests before its engine is stopped.

Most engines abort the requests in progress on SIGTERM, and gateways send new ones until they have learned that the
pod ends. A hook delays the signal until the pod has been without requests for :data:`QUIET_SECONDS`:

- The port has no connection, so no request is open. Gauges alone do not show that: those of vLLM keep their last
  value if the last requests are aborted (vllm-project/vllm issues 22545 and 29928).
- There are connections, but the gauges of the engine are 0: gateways and Prometheus keep connections open.

Series are matched by their exact names and summed: ``vllm:num_requests_waiting_by_reason`` is another metric than
``vllm:num_requests_waiting``, and each engine of a data parallel server has series of its own. Without any series
(``--disable-log-stats``, Ollama), with an error (an API key of llama.cpp) or without an answer in time, connections
alone count. A pod whose port is closed has no requests.

The scripts need a shell, ``awk``, ``date`` and ``sleep``, which are in the base images of all engines (Ubuntu, Debian
or UBI). Only engines with gauges need ``curl``, which the images of vLLM, SGLang, Text Generation Inference and
llama.cpp install (their Dockerfiles) and that of Ollama does not. Without ``curl``, connections alone count; an image
without a shell ends as it would without a hook.
"""

import re
from collections.abc import Mapping
from typing import Any

from .command_line import CommandLine
from .metrics import PROMETHEUS, engine_metrics
from .registry import engines
from .settings import Setting

QUIET_SECONDS = 10
"""How long a pod must have had no requests. It covers the time until gateways and kube-proxy have removed the pod,
and gaps in the gauges: Text Generation Inference counts no request during its prefill, SGLang updates its gauges
every 40 steps."""
STOP_SECONDS = 15
"""What a hook leaves of the grace period: its last check may take 7 seconds, and the engine needs time to stop."""
_POLL_SECONDS = 2
_TIMEOUT_SECONDS = 5
_LOOP = """\
# {purpose}
last=$(date +%s)
end=$((last + {bound}))
while now=$(date +%s); [ $((now - last)) -lt {quiet} ]; do
  if [ "$now" -ge "$end" ]; then
    echo "requests are still running after {bound} seconds"
    exit 1
  fi
{check}  sleep {poll}
done
"""
_OWN_PURPOSE = "Keeps serving until there was no request for {quiet} seconds, for at most {bound} seconds."
# The states of sockets are those of include/net/tcp_states.h in the kernel.
_OWN_CHECK = """\
  # Sockets of port {port}: 0A listens, 01 is the connection of a client.
  sockets=$(awk '$2 ~ /:{hex_port}$/ {{ print $4 }}' /proc/net/tcp /proc/net/tcp6 2>/dev/null)
  requests={requests}
  case $sockets,$requests in
    *0A*,*) ;;
    *) exit 0 ;;
  esac
  case $sockets,$requests in
    *01*,0) ;;
    *01*,*) last=$now ;;
  esac
"""
_FOLLOWER_PURPOSE = (
    "Waits until the leader of the group had no request for {quiet} seconds, for at most {bound} seconds."
)
# curl's exit codes: 6 and 7, the leader has no address or does not listen; 127, there is no curl.
_FOLLOWER_CHECK = """\
  answer=$({fetch})
  case $?,$(printf '%s\\n' "$answer" | {count}) in
    0,0 | 6,* | 7,* | 127,*) ;;
    *) last=$now ;;
  esac
"""
_FETCH = "curl -sf --noproxy '*' -m {timeout} \"http://{host}:{port}{path}\""
_COUNT = "awk '/^({gauges})[{{ ]/ {{ sum += $NF; seen = 1 }} END {{ if (seen) print sum }}'"

_SLEEP = re.compile(r"(?:(?:/bin/)?(?:ba)?sh -c )?(?:/bin/)?sleep ([0-9]+)s?")
"""A command that only sleeps."""

Hook = dict[str, Any]
"""The ``lifecycle`` of a container."""


def drain_hook(engine: str, port: int, grace: int, prefix: str = "") -> Hook:
    """Return the lifecycle of a container that keeps serving until its requests have ended.

    Args:
        engine: Name of its engine; empty if it is unknown.
        port: Port of its engine.
        grace: Termination grace period of its pod, in seconds.
        prefix: Prefix of the paths of its server.
    """
    gauges = _gauges(engine)
    requests = f"$({_fetch(engine, 'localhost', port, prefix)} | {_count(gauges)})" if gauges else ""
    check = _OWN_CHECK.format(port=port, hex_port=f"{port:04X}", requests=requests)
    return _hook(_OWN_PURPOSE, check, grace)


def follower_hook(engine: str, leader: str, port: int, grace: int, prefix: str = "") -> Hook | None:
    """Return the lifecycle of a container that computes for the leader of its group until the leader has no requests.

    None for an engine without gauges: the hook would wait for the whole grace period of an idle leader.

    Args:
        engine: Name of the engine.
        leader: Variable with the address of the leader.
        port: Port of the leader's engine.
        grace: Termination grace period of the pod, in seconds.
        prefix: Prefix of the paths of the leader's server.
    """
    gauges = _gauges(engine)
    if not gauges:
        return None
    fetch = _fetch(engine, f"${leader}", port, prefix)
    return _hook(_FOLLOWER_PURPOSE, _FOLLOWER_CHECK.format(fetch=fetch, count=_count(gauges)), grace)


def drain_bound(grace: int) -> int:
    """Return the seconds after which a hook gives up, so that the engine can stop within the grace period."""
    return max(grace - STOP_SECONDS, grace // 2)


def finishing_seconds(container: Mapping[str, Any], line: CommandLine, grace: int) -> float:
    """Return how long requests in progress have after the deletion of a pod, until they are aborted.

    A preStop hook that runs a script is taken to wait for requests, unless the script only sleeps.

    Args:
        container: The serving container.
        line: Its command line.
        grace: Termination grace period of the pod, in seconds.
    """
    slept = _slept_seconds(container)
    if slept is None:
        return drain_bound(grace)
    own = _own_seconds(line)
    return grace if own is None else min(grace, slept + own)


def aborting_seconds(container: Mapping[str, Any], line: CommandLine) -> float | None:
    """Return the seconds from the deletion of a pod until its requests are aborted; None if it may wait for them."""
    return _slept_seconds(container) if _own_seconds(line) == 0 else None


def _slept_seconds(container: Mapping[str, Any]) -> float | None:
    """Return the seconds by which a preStop hook delays SIGTERM; None if it may wait for requests."""
    hook = (container.get("lifecycle") or {}).get("preStop") or {}
    if not hook.get("exec"):
        return float((hook.get("sleep") or {}).get("seconds") or 0)
    sleep = _SLEEP.fullmatch(" ".join(map(str, hook["exec"].get("command") or ())))
    return float(sleep[1]) if sleep else None


def _own_seconds(line: CommandLine) -> float | None:
    """Return the seconds that an engine gives its requests after SIGTERM; None without a known limit."""
    engine = engines().get(line.engine)
    written = line.number_of(Setting.SHUTDOWN_TIMEOUT) if engine and engine.flag(Setting.SHUTDOWN_TIMEOUT) else None
    if written is not None:
        return written
    return engine.finishes if engine else None


def grace_for(longest: int) -> int:
    """Return the termination grace period within which a request of some seconds finishes.

    It may arrive while gateways do not know of the end of its pod yet.
    """
    return longest + QUIET_SECONDS + STOP_SECONDS


def _hook(purpose: str, check: str, grace: int) -> Hook:
    bound = drain_bound(grace)
    purpose = purpose.format(quiet=QUIET_SECONDS, bound=bound)
    script = _LOOP.format(purpose=purpose, bound=bound, quiet=QUIET_SECONDS, check=check, poll=_POLL_SECONDS)
    return {"preStop": {"exec": {"command": ["/bin/sh", "-c", script]}}}


def _gauges(engine: str) -> tuple[str, ...]:
    """Return the gauges of the requests of an engine in all its versions: an image may not tell its own."""
    facts = engine_metrics().get(engine)
    if facts is None or facts.exports != PROMETHEUS:
        return ()
    return tuple(metric.name for kind in ("running", "queue") for metric in facts.of_kind(kind))


def _fetch(engine: str, host: str, port: int, prefix: str) -> str:
    path = f"{prefix}{engine_metrics()[engine].path}"
    return _FETCH.format(timeout=_TIMEOUT_SECONDS, host=host, port=port, path=path)


def _count(gauges: tuple[str, ...]) -> str:
    """Return the command that prints the sum of gauges, or nothing if there are none."""
    return _COUNT.format(gauges="|".join(gauges))
