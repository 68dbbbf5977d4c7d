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
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .command_line import CommandLine
from .flags.tables import flags_of
from .metrics import PROMETHEUS, engine_metrics
from .registry import engines
from .scripts.commands import commands_of
from .settings import Setting
from .versions import VersionSpan

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

_BOUND = re.compile(r"after ([0-9]{1,9}) seconds\"$", re.MULTILINE)
_PLACE = re.compile(
    r"\"http://(?:localhost|\$(?P<leader>\w+)):(?P<port>[0-9]{1,5})(?P<path>(?:/[\w.-]+)*)\"|"
    r"\A(?!.*http://).* port (?P<own_port>[0-9]{1,5}): ",
    re.DOTALL | re.ASCII,
)
"""Where the script of a hook reads its gauges, or without gauges, its port."""
_DURATION = re.compile(r"([0-9]+(?:\.[0-9]+)?|\.[0-9]+)([smhd]?)", re.ASCII)
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_AT_ONCE = frozenset({"true", "false", ":", "echo", "printf", "sync", "date", "touch", "rm", "logger", "set"})
"""Commands that end at once, whatever the requests."""
_ENDING = frozenset({"exit", "kill", "pkill", "killall"})
"""Commands that end the hook or the engine."""
_LONGER: Mapping[str, tuple[str, VersionSpan]] = {
    "vllm:num_requests_waiting": ("vllm:num_requests_waiting_by_reason", VersionSpan(since=(0, 20))),
    "sglang:num_running_reqs": (
        "sglang:num_running_reqs_offline_batch",
        VersionSpan(since=(0, 5, 2), until=(0, 5, 11)),
    ),
}
"""Metrics whose names begin with that of a gauge, and the releases with them (vllm/v1/metrics/loggers.py, and
sglang/srt/metrics/collector.py, later sglang/srt/observability/metrics_collector.py)."""

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
    return _hook(_OWN_PURPOSE, _own_check(engine, port, prefix), drain_bound(grace))


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
    check = _follower_check(engine, leader, port, prefix)
    return _hook(_FOLLOWER_PURPOSE, check, drain_bound(grace)) if check else None


def is_hook_script(text: str) -> bool:
    """Whether a script is that of a hook from this module, for any engine, port and grace period."""
    bound = _BOUND.search(text)
    place = _PLACE.search(text)
    if bound is None or place is None:
        return False
    # Reports alone need what is harmless, and few scripts come this far.
    from ..contract.texts.harmless import is_plain

    if not is_plain(place["path"] or "/"):
        return False
    host, port = place["leader"] or "", int(place["port"] or place["own_port"])
    for engine in ("", *engine_metrics()):
        gauges = _gauges(engine)
        path = engine_metrics()[engine].path if gauges else ""
        if gauges and not (place["path"] or "").endswith(path):
            continue
        prefix = place["path"].removesuffix(path) if gauges else ""
        check = _follower_check(engine, host, port, prefix) if host else _own_check(engine, port, prefix)
        purpose = _FOLLOWER_PURPOSE if host else _OWN_PURPOSE
        if check and text == _script(purpose, check, int(bound[1])):
            return True
    return False


def drain_bound(grace: int) -> int:
    """Return the seconds after which a hook gives up, so that the engine can stop within the grace period."""
    return max(grace - STOP_SECONDS, grace // 2)


def finishing_seconds(container: Mapping[str, Any], line: CommandLine, grace: int) -> float:
    """Return how long requests in progress have after the deletion of a pod, until they are aborted.

    A preStop hook that runs a script is taken to wait for requests, unless its commands cannot.

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
    """Return the seconds by which a preStop hook delays SIGTERM; None if it may wait for requests.

    A script waits only if it contains a command that may: one that sleeps and then ends the engine does not.
    """
    hook = (container.get("lifecycle") or {}).get("preStop") or {}
    if not hook.get("exec"):
        return float((hook.get("sleep") or {}).get("seconds") or 0)
    line = CommandLine("", "", (), hook["exec"].get("command") or ())
    commands: Iterable[Sequence[str]] = [line.words]
    if line.script:
        commands = commands_of(CommandLine("", "", (), line.words[: line.script + 1]))
    slept = 0.0
    for command in commands:
        words = command[1:] if command[:1] == ["exec"] else command
        name = words[0].rpartition("/")[2].lower() if words else "true"
        if name in _ENDING and "-0" not in words:
            break
        if name == "sleep":
            durations = [_DURATION.fullmatch(word) for word in words[1:]]
            if not all(durations):
                return None
            slept += sum(float(each[1]) * _UNITS[each[2]] for each in durations if each)
        elif name not in _AT_ONCE:
            return None
    return slept


def misread_gauge(container: Mapping[str, Any], line: CommandLine) -> tuple[str, str] | None:
    """Return a gauge that a preStop hook searches by a prefix, and the metric that it finds as well, if any.

    Args:
        container: The serving container.
        line: Its command line.
    """
    hook = ((container.get("lifecycle") or {}).get("preStop") or {}).get("exec") or {}
    text = " ".join(map(str, hook.get("command") or ()))
    engine = engines().get(line.engine)
    if engine is None or "grep -w" in text:
        return None
    for gauge in set(_gauges(line.engine)) & set(_LONGER):
        name, span = _LONGER[gauge]
        # The end of a pattern or of a command right after the name.
        is_prefix = re.search(rf"{re.escape(gauge)}(?=['\"/]|\s*(?:;|\n|$)|\s+\|)", text)
        if is_prefix and span.includes(engine.version(line.tag)):
            return gauge, name
    return None


def _own_seconds(line: CommandLine) -> float | None:
    """Return the seconds that an engine gives its requests after SIGTERM; None without a known limit."""
    engine = engines().get(line.engine)
    flag = engine.flag(Setting.SHUTDOWN_TIMEOUT) if engine else None
    if engine and flag:
        table = flags_of(line.engine)
        known = table.find(flag) if table else None
        written = line.number_of(Setting.SHUTDOWN_TIMEOUT)
        # A release without the flag refuses it, or does not know what to do with it.
        if written is not None and not (known and known.span.is_before(engine.version(line.tag))):
            return written
    return engine.finishes if engine else None


def grace_for(longest: int) -> int:
    """Return the termination grace period within which a request of some seconds finishes.

    It may arrive while gateways do not know of the end of its pod yet.
    """
    return longest + QUIET_SECONDS + STOP_SECONDS


def _hook(purpose: str, check: str, bound: int) -> Hook:
    return {"preStop": {"exec": {"command": ["/bin/sh", "-c", _script(purpose, check, bound)]}}}


def _script(purpose: str, check: str, bound: int) -> str:
    purpose = purpose.format(quiet=QUIET_SECONDS, bound=bound)
    return _LOOP.format(purpose=purpose, bound=bound, quiet=QUIET_SECONDS, check=check, poll=_POLL_SECONDS)


def _own_check(engine: str, port: int, prefix: str) -> str:
    gauges = _gauges(engine)
    requests = f"$({_fetch(engine, 'localhost', port, prefix)} | {_count(gauges)})" if gauges else ""
    return _OWN_CHECK.format(port=port, hex_port=f"{port:04X}", requests=requests)


def _follower_check(engine: str, leader: str, port: int, prefix: str) -> str:
    """Return the check of a follower; empty for an engine without gauges."""
    gauges = _gauges(engine)
    if not gauges:
        return ""
    return _FOLLOWER_CHECK.format(fetch=_fetch(engine, f"${leader}", port, prefix), count=_count(gauges))


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
