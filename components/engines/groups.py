"""Joins the pods of one replica: what leader and workers of a group run (llmaz spec 2.9)."""

import shlex
from typing import Any

from .registry import Engine, reaches

_RAY_PORT = 6379
_SGLANG_PORT = 20000
_VLLM_PORT = 29500
_JOIN_TRIES = 60
_JOIN_SECONDS = 5
_API_SERVER = ["python3", "-m", "vllm.entrypoints.openai.api_server"]
_NODES = ("--nnodes", "$(LWS_GROUP_SIZE)", "--node-rank", "$(LWS_WORKER_INDEX)")
"""Kubernetes fills in what the LeaderWorkerSet controller puts into the environment."""


def group_templates(
    container: dict[str, Any], engine: Engine | None, version: str
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the leader's and the worker's container of a group that serves as one; only the leader answers."""
    worker = {k: v for k, v in container.items() if k not in ("ports", "lifecycle") and not k.endswith("Probe")}
    if engine and engine.multi_node == "sglang":
        joined = [*container.get("args", []), "--dist-init-addr", f"$(LWS_LEADER_ADDRESS):{_SGLANG_PORT}", *_NODES]
        return {**container, "args": joined}, {**worker, "args": joined}
    if engine and reaches(version, engine.own_multi_node_from):
        return _vllm(container, worker)
    serve = shlex.join([*container.get("command", []), *container.get("args", [])])
    script = _ray_leader(f"{serve} --distributed-executor-backend ray")
    return (
        {**container, "command": ["sh", "-c"], "args": [script]},
        {**worker, "command": ["sh", "-c"], "args": [_ray_worker()]},
    )


def _vllm(container: dict[str, Any], worker: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Join as vLLM does by itself. Only ``vllm serve`` knows ``--headless``, the API server's module does not."""
    command, args = container.get("command", []), container.get("args", [])
    if command == _API_SERVER:
        command = ["vllm", "serve"]
        if "--model" in args:
            # As a flag of ``vllm serve`` it is deprecated.
            at = args.index("--model")
            args = [*args[at + 1 : at + 2], *args[:at], *args[at + 2 :]]
    master = ("--master-addr", "$(LWS_LEADER_ADDRESS)", "--master-port", str(_VLLM_PORT))
    joined = [*args, "--distributed-executor-backend", "mp", *_NODES, *master]
    return (
        {**container, "command": command, "args": joined},
        {**worker, "command": command, "args": [*joined, "--headless"]},
    )


def _ray_leader(serve: str) -> str:
    alive = "import ray; ray.init(address='auto'); print(sum(node['Alive'] for node in ray.nodes()))"
    return (
        f"ray start --head --port={_RAY_PORT} --disable-usage-stats --include-dashboard=false\n"
        "tries=0\n"
        f'until [ "$(python3 -c "{alive}" 2>/dev/null | tail -n 1)" = "$LWS_GROUP_SIZE" ]; do\n'
        "  tries=$((tries + 1))\n"
        f'  if [ "$tries" -ge {_JOIN_TRIES} ]; then\n'
        '    echo "not all $LWS_GROUP_SIZE pods of the group joined" >&2\n'
        "    exit 1\n"
        "  fi\n"
        f"  sleep {_JOIN_SECONDS}\n"
        "done\n"
        f"exec {serve}\n"
    )


def _ray_worker() -> str:
    return f"until ray start --address=$LWS_LEADER_ADDRESS:{_RAY_PORT} --block; do sleep {_JOIN_SECONDS}; done\n"
