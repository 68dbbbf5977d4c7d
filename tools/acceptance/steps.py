"""The steps of a run. Each raises AcceptanceError, or returns in one line what was seen."""

import json
import secrets
import signal
import subprocess
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from acceptance.errors import AcceptanceError
from acceptance.project import DOOR_NAMESPACE, KEYS, MODEL, NAMESPACE, AcceptanceProject, environment

CLIENT = Path(__file__).with_name("client.py")
CLIENT_NAMESPACE = "acceptance-client"
CLIENT_IMAGE = "docker.io/library/python:3.13-slim"
PROXIES = "gateway.envoyproxy.io/owning-gateway-name=inference-gateway"
ROLL_SECONDS = 25 * 60
"""A load balancer takes up to five minutes to register each of two proxies; an old one drains for four."""
_GRACE_SECONDS = 300
"""How long an interrupted program may finish what it has begun."""


@dataclass
class Deadline:
    """The moment at which steps are interrupted; destroying has no deadline."""

    end: float

    def seconds(self) -> float:
        """Return the remaining time.

        Raises:
            AcceptanceError: there is none.
        """
        remaining = self.end - time.monotonic()
        if remaining <= 0:
            raise AcceptanceError("the time limit (--max-minutes) is reached")
        return remaining


@dataclass
class Steps:
    """A run on the cluster of a project."""

    project: AcceptanceProject
    deadline: Deadline

    def create(self) -> str:
        """Create everything: network, cluster, GPU node, prerequisites, model, gateway."""
        self.run(self.project.workbench("up", "--engine", "pulumi", "--yes"), quiet=False)
        kubeconfig = ["--kubeconfig", str(self._kubeconfig)]
        where = ["--region", self.project.region, *kubeconfig]
        self.run(["aws", "eks", "update-kubeconfig", "--name", self.project.cluster, *where])
        (ready,) = self._deployments({f"{NAMESPACE}/chat"}).values()
        return f"the model has {ready['status'].get('readyReplicas', 0)} ready replica"

    def repeat(self) -> str:
        """Check that a second update would change nothing."""
        printed = self.run(self.project.workbench("preview", "--engine", "pulumi", "--output", "json"))
        summary = json.loads(printed)["changeSummary"]
        changed = {operation: count for operation, count in summary.items() if operation != "same" and count}
        if changed:
            raise AcceptanceError(f"a second update would change resources: {changed}")
        return f"{summary['same']} resources unchanged"

    def call(self) -> str:
        """Call the model through the gateway, with a key and without."""
        self._install_client()
        answered = self._client("call", key=True)
        if answered != {"completed": 1}:
            raise AcceptanceError(f"with a key: {answered}")
        refused = self._client("call-without-key", key=False)
        if refused != {"status 401": 1}:
            raise AcceptanceError(f"without a key, status 401 is expected: {refused}")
        return "one streamed answer with a key; status 401 without"

    def edit(self) -> str:
        """Edit the model; only its Deployment may change."""
        before = self._deployments()
        self.project.edit()
        self.run(self.project.workbench("up", "--engine", "pulumi", "--yes"), quiet=False)
        after = self._deployments()
        changed = {
            name
            for name in before.keys() | after.keys()
            if (before.get(name) or {}).get("metadata", {}).get("generation")
            != (after.get(name) or {}).get("metadata", {}).get("generation")
        }
        if changed != {f"{NAMESPACE}/chat"}:
            raise AcceptanceError(f"the edit changed {sorted(changed) or 'nothing'}, not just {NAMESPACE}/chat")
        answered = self._client("call-after-edit", key=True)
        if answered != {"completed": 1}:
            raise AcceptanceError(f"after the edit: {answered}")
        return f"{NAMESPACE}/chat changed, {len(after) - 1} Deployments did not; it answers"

    def roll(self) -> str:
        """Replace the gateway's proxies while clients stream answers; none may fail."""
        self._start_client("roll", key=True, seconds=ROLL_SECONDS, threads=4)
        self._wait_for_pod("roll")
        where = ["-n", DOOR_NAMESPACE]
        started = time.monotonic()
        self.kubectl("rollout", "restart", "deployment", "-l", PROXIES, *where)
        self.kubectl("rollout", "status", "deployment", "-l", PROXIES, f"--timeout={ROLL_SECONDS}s", *where)
        rolled = time.monotonic() - started
        counts = self._finished("roll", ROLL_SECONDS + 300)
        failed = {outcome: count for outcome, count in counts.items() if outcome != "completed"}
        if failed:
            raise AcceptanceError(f"requests failed while the proxies were replaced: {counts}")
        return f"proxies replaced in {rolled / 60:.0f} minutes; {counts['completed']} answers, none failed"

    def kubectl(self, *words: str, stdin: str = "") -> str:
        """Run kubectl, and return its output."""
        return self.run(["kubectl", "--kubeconfig", str(self._kubeconfig), *words], stdin=stdin)

    def run(self, command: list[str], *, quiet: bool = True, stdin: str = "", limited: bool = True) -> str:
        """Run a program until the deadline.

        Args:
            command: The command line.
            quiet: Whether its output is returned rather than shown.
            stdin: Its input.
            limited: Whether the deadline applies.

        Raises:
            AcceptanceError: it failed, or was interrupted at the deadline.
        """
        seconds = self.deadline.seconds() if limited else None
        output = subprocess.PIPE if quiet else None
        with subprocess.Popen(
            command,
            cwd=self.project.folder,
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
            text=True,
        ) as child:
            try:
                printed, errors = child.communicate(stdin, seconds)
            except subprocess.TimeoutExpired:
                # Killed at once, Pulumi would leave its lock and resources that the state does not know.
                child.send_signal(signal.SIGINT)
                try:
                    child.wait(_GRACE_SECONDS)
                except subprocess.TimeoutExpired:
                    child.kill()
                raise AcceptanceError(f"{_title(command)}: interrupted at the time limit (--max-minutes)") from None
        if child.returncode:
            last = ((errors or printed or "").strip().splitlines() or ["see its output above"])[-1]
            raise AcceptanceError(f"{_title(command)} exited with {child.returncode}: {last}")
        return printed or ""

    @property
    def _kubeconfig(self) -> Path:
        return self.project.folder / "kubeconfig"

    def _deployments(self, only: Iterable[str] = ()) -> dict[str, Any]:
        """Return Deployments by namespace and name."""
        items = json.loads(self.kubectl("get", "deployments", "-A", "-o", "json"))["items"]
        named = {f"{item['metadata']['namespace']}/{item['metadata']['name']}": item for item in items}
        return {name: item for name, item in named.items() if not only or name in set(only)}

    def _install_client(self) -> None:
        """Create a key, known to the gateway and the client, and the client's script."""
        key = secrets.token_urlsafe(32)
        self._apply(
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": CLIENT_NAMESPACE}},
            _object("Secret", KEYS, DOOR_NAMESPACE, stringData={"acceptance": key}),
            _object("Secret", KEYS, CLIENT_NAMESPACE, stringData={"acceptance": key}),
            _object("ConfigMap", "client", CLIENT_NAMESPACE, data={"client.py": CLIENT.read_text(encoding="utf-8")}),
        )

    def _client(self, name: str, *, key: bool) -> dict[str, int]:
        """Send one request from a pod; return the number of requests by outcome."""
        self._start_client(name, key=key, seconds=0, threads=1)
        return self._finished(name, 300)

    def _start_client(self, name: str, *, key: bool, seconds: int, threads: int) -> None:
        printed = self.run(self.project.workbench("outputs", "--engine", "pulumi", "--output", "json"))
        url = urlsplit(json.loads(printed)["endpoints"]["chat"]["url"])
        settings = {
            "ADDRESS": url.netloc,
            "PATH_PREFIX": url.path.rstrip("/"),
            "MODEL": MODEL,
            "SECONDS": str(seconds),
            "THREADS": str(threads),
        }
        self._apply(client_job(name, settings, key=key))

    def _wait_for_pod(self, name: str) -> None:
        where = ["-n", CLIENT_NAMESPACE]
        self.kubectl("wait", "--for=condition=Ready", "pod", "-l", f"job-name={name}", "--timeout=300s", *where)

    def _finished(self, name: str, seconds: int) -> dict[str, int]:
        where = ["-n", CLIENT_NAMESPACE]
        self.kubectl("wait", "--for=condition=Complete", f"job/{name}", f"--timeout={seconds}s", *where)
        counts: dict[str, int] = json.loads(self.kubectl("logs", f"job/{name}", *where))
        return counts

    def _apply(self, *objects: Mapping[str, Any]) -> None:
        # Through stdin: a key must not appear among the arguments of a process.
        content = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
        self.kubectl("apply", "-f", "-", stdin=json.dumps(content))


def client_job(name: str, settings: Mapping[str, str], *, key: bool) -> dict[str, Any]:
    """Return the Job of a client."""
    env: list[dict[str, Any]] = [{"name": variable, "value": value} for variable, value in settings.items()]
    if key:
        env.append({"name": "KEY", "valueFrom": {"secretKeyRef": {"name": KEYS, "key": "acceptance"}}})
    else:
        env.append({"name": "KEY", "value": ""})
    container = {
        "name": "client",
        "image": CLIENT_IMAGE,
        "command": ["python", "/client/client.py"],
        "env": env,
        "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}, "limits": {"memory": "256Mi"}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        },
        "volumeMounts": [{"name": "client", "mountPath": "/client", "readOnly": True}],
    }
    pod = {
        "automountServiceAccountToken": False,
        "containers": [container],
        "restartPolicy": "Never",
        "securityContext": {"runAsNonRoot": True, "runAsUser": 65534, "seccompProfile": {"type": "RuntimeDefault"}},
        "volumes": [{"name": "client", "configMap": {"name": "client"}}],
    }
    job = _object("Job", name, CLIENT_NAMESPACE, spec={"backoffLimit": 0, "template": {"spec": pod}})
    return {**job, "apiVersion": "batch/v1"}


def _object(kind: str, name: str, namespace: str, **content: Any) -> dict[str, Any]:  # noqa: ANN401  of any kind
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "namespace": namespace}, **content}


def _title(command: list[str]) -> str:
    """Return the program and its first words, without files and values."""
    words = [word for word in command if not word.startswith(("-", "/"))]
    return " ".join(words[:3]) or command[0]
