"""Random parts of pods that a real API server admits: variables, probes, security contexts, tolerations.

The contract takes more than these; what it takes and the server refuses is no matter of rendering.
"""

from collections.abc import Callable
from random import Random
from typing import Any

Object = dict[str, Any]


def some(random: Random, /, **fields: Callable[[], Any]) -> Object:
    """Return some of the fields, each with a value made when it is wanted."""
    return {name: make() for name, make in fields.items() if random.random() < 0.4}


def several(random: Random, make: Callable[[Random], Any], most: int = 3) -> list[Any]:
    return [make(random) for _ in range(random.randint(1, most))]


def secret_key(random: Random) -> Object:
    return {"name": "hugging-face", "key": "HF_TOKEN", **some(random, optional=lambda: random.random() < 0.5)}


def _variable(random: Random) -> Object:
    name = random.choice(("A", "HF_HOME", "OMP_NUM_THREADS", "NODE", "a.b-c"))
    sources: tuple[Object, ...] = (
        {"configMapKeyRef": {"name": "settings", "key": "k", **some(random, optional=lambda: True)}},
        {"secretKeyRef": secret_key(random)},
        {"fieldRef": {"fieldPath": random.choice(("metadata.name", "spec.nodeName", "metadata.labels['app']"))}},
        {"resourceFieldRef": {"resource": "limits.cpu", **some(random, divisor=lambda: random.choice((1, "1m")))}},
    )
    if random.random() < 0.4:
        return {"name": name, "valueFrom": random.choice(sources)}
    return {"name": name, **some(random, value=lambda: random.choice(("", "1", "true", "é $(A)", "a: b\nc")))}


def env(random: Random) -> list[Object]:
    """Variables, now and then the same one twice."""
    return several(random, _variable)


def toleration(random: Random) -> Object:
    key = random.choice(("nvidia.com/gpu", "example.com/pool", "dedicated"))
    effect = random.choice(("NoSchedule", "PreferNoSchedule", "NoExecute", ""))
    seconds = {"tolerationSeconds": random.choice((0, 60, 2**40))} if effect == "NoExecute" else {}
    shapes: tuple[Object, ...] = (
        {"operator": "Exists"},
        {"key": key, "operator": "Exists"},
        {"key": key, "operator": "Equal", "value": "present"},
        {"key": key, "value": "a"},
    )
    return {**random.choice(shapes), **({"effect": effect} if effect else {}), **seconds}


def _seccomp(random: Random) -> Object:
    return random.choice(
        ({"type": "RuntimeDefault"}, {"type": "Unconfined"}, {"type": "Localhost", "localhostProfile": "p/a.json"})
    )


def _user(random: Random) -> Object:
    return some(
        random,
        runAsUser=lambda: random.choice((1, 1000, 2**31 - 1)),
        runAsGroup=lambda: random.choice((0, 5)),
        runAsNonRoot=lambda: random.random() < 0.5,
        seccompProfile=lambda: _seccomp(random),
        seLinuxOptions=lambda: some(random, level=lambda: "s0", role=lambda: "r", type=lambda: "t", user=lambda: "u"),
    )


def pod_security(random: Random) -> Object:
    return _user(random) | some(
        random,
        fsGroup=lambda: random.choice((0, 102, 2000)),
        fsGroupChangePolicy=lambda: random.choice(("Always", "OnRootMismatch")),
        supplementalGroups=lambda: [1, 2],
        sysctls=lambda: [{"name": "net.core.somaxconn", "value": "1024"}],
    )


def security(random: Random) -> Object:
    return _user(random) | some(
        random,
        allowPrivilegeEscalation=lambda: False,
        capabilities=lambda: some(random, add=lambda: ["NET_ADMIN"], drop=lambda: ["ALL"]),
        readOnlyRootFilesystem=lambda: random.random() < 0.5,
        privileged=lambda: False,
        procMount=lambda: "Default",
    )


def _probe(random: Random, *, once: bool) -> Object:
    port = random.choice((8080, 65535, "http"))
    handlers: tuple[Object, ...] = (
        {"exec": {"command": ["sh", "-c", "true"]}},
        {"grpc": {"port": 9000, **some(random, service=lambda: "s")}},
        {"httpGet": {"port": port, **some(random, path=lambda: "/health", scheme=lambda: "HTTPS")}},
        {"tcpSocket": {"port": port}},
    )
    numbers = some(
        random,
        initialDelaySeconds=lambda: random.choice((0, 30)),
        periodSeconds=lambda: random.choice((1, 60)),
        timeoutSeconds=lambda: 5,
        failureThreshold=lambda: random.choice((1, 600)),
        successThreshold=lambda: 1,
    )
    # A pod that is not ready is not ended, so that only the other two say how long that takes.
    return {
        **random.choice(handlers),
        **numbers,
        **(some(random, terminationGracePeriodSeconds=lambda: 7) if once else {}),
    }


def probe_overrides(random: Random) -> Object:
    return some(
        random,
        startup=lambda: _probe(random, once=True),
        liveness=lambda: _probe(random, once=True),
        readiness=lambda: _probe(random, once=False),
    )


def labels(random: Random) -> dict[str, str]:
    keys = ("team", "example.com/role", "a_b.c", "app")
    return {random.choice(keys): random.choice(("", "a", "A-b_c.d", "1")) for _ in range(2)}


def annotations(random: Random) -> dict[str, str]:
    return {"example.com/note": random.choice(("", "é: \n-x", "true"))}
