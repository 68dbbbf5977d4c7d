"""Random values of the core types that Kthena's kinds hold, as an API server admits them in a custom resource."""

from collections.abc import Callable
from random import Random
from typing import Any

Object = dict[str, Any]

QUANTITIES = ("1", 2, "500m", "1.5", "8Gi", "1e3", ".5", "+1", "5.")


def some(random: Random, /, **fields: Callable[[], Any]) -> Object:
    """Return some of the fields, each with a value made when it is wanted."""
    return {name: make() for name, make in fields.items() if random.random() < 0.4}


def word(random: Random) -> str:
    return random.choice(("a", "some-name", "", "A b", "é", "1", "true", "x\ny", "$(A)", "${B}", "'\""))


def labels(random: Random) -> dict[str, str]:
    return {random.choice(("team", "example.com/role", "a_b")): word(random) for _ in range(random.randrange(3))}


def any_json(random: Random, depth: int = 3) -> Any:
    plain = (None, True, 0, -1, 2**53, 1.5, "", "a", "é\n", "$(A)")
    if depth == 0 or random.random() < 0.5:
        return random.choice(plain)
    if random.random() < 0.5:
        return [any_json(random, depth - 1) for _ in range(random.randrange(3))]
    return any_object(random, depth)


def any_object(random: Random, depth: int = 3) -> Object:
    keys = ("max-model-len", "served_model_name", "a b", "", "é", "$ref", "items")
    return {random.choice(keys): any_json(random, depth - 1) for _ in range(random.randrange(4))}


def _variable(random: Random, name: str) -> Object:
    sources = (
        {"fieldRef": {"fieldPath": "metadata.name", **some(random, apiVersion=lambda: "v1")}},
        {"resourceFieldRef": {"resource": "limits.cpu", **some(random, divisor=lambda: random.choice((1, "1m")))}},
        {"secretKeyRef": {"key": "k", **some(random, name=lambda: "s", optional=lambda: True)}},
        {"configMapKeyRef": {"key": "k", "name": "c"}},
    )
    if random.random() < 0.3:
        return {"name": name, "valueFrom": random.choice(sources)}
    return {"name": name, **some(random, value=lambda: word(random))}


def env(random: Random) -> list[Object]:
    names = random.sample(("A", "HF_ENDPOINT", "RUNTIME_PORT", "a.b"), random.randrange(4))
    return [_variable(random, name) for name in names]


def env_from(random: Random) -> list[Object]:
    def source() -> Object:
        return some(
            random,
            prefix=lambda: "P_",
            secretRef=lambda: some(random, name=lambda: "s", optional=lambda: False),
            configMapRef=lambda: {"name": "c"},
        )

    return [source() for _ in range(random.randrange(3))]


def resources(random: Random) -> Object:
    def amounts() -> Object:
        names = random.sample(("cpu", "memory", "nvidia.com/gpu", "example.com/x"), random.randrange(4))
        return {name: random.choice(QUANTITIES) for name in names}

    return some(random, limits=amounts, requests=amounts, claims=lambda: [{"name": "c"}])


def selector(random: Random) -> Object:
    return some(
        random,
        matchLabels=lambda: labels(random),
        matchExpressions=lambda: [{"key": "a", "operator": "In", "values": ["b", "b"]}, {"key": "", "operator": "x"}],
    )


def affinity(random: Random) -> Object:
    term = {"matchExpressions": [{"key": "gpu", "operator": "In", "values": ["l4"]}]}
    pods = {"topologyKey": "zone", "labelSelector": selector(random)}
    return some(
        random,
        nodeAffinity=lambda: {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}},
        podAffinity=lambda: {"requiredDuringSchedulingIgnoredDuringExecution": [pods]},
        podAntiAffinity=lambda: {
            "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": pods}]
        },
    )


def _container(random: Random, name: str) -> Object:
    port = random.choice((8000, "http"))
    return {
        "name": name,
        **some(
            random,
            image=lambda: "vllm/vllm-openai:v0.20.0",
            args=lambda: [word(random)],
            command=lambda: ["sh", "-c", word(random)],
            env=lambda: env(random),
            envFrom=lambda: env_from(random),
            resources=lambda: resources(random),
            ports=lambda: [{"containerPort": 8000, **some(random, name=lambda: "http", protocol=lambda: "TCP")}],
            readinessProbe=lambda: {"httpGet": {"path": "/health", "port": port}, "periodSeconds": 5},
            lifecycle=lambda: {"preStop": {"exec": {"command": ["true"]}}},
            volumeMounts=lambda: [{"name": "v", "mountPath": "/v"}],
        ),
    }


def pod_spec(random: Random) -> Object:
    names = random.sample(("engine", "runtime", "third"), random.randrange(4))
    return {
        "containers": [_container(random, name) for name in names],
        **some(
            random,
            initContainers=lambda: [_container(random, "loader")],
            affinity=lambda: affinity(random),
            nodeSelector=lambda: labels(random),
            schedulerName=lambda: "volcano",
            tolerations=lambda: [{"operator": "Exists"}],
            volumes=lambda: [{"name": "v", "emptyDir": {"sizeLimit": "1Gi"}}],
            terminationGracePeriodSeconds=lambda: random.choice((0, 300, -1)),
        ),
    }


def reference(random: Random) -> Object:
    return some(
        random,
        apiVersion=lambda: "workload.serving.volcano.sh/v1alpha1",
        kind=lambda: "ModelServing",
        name=lambda: "groups",
        namespace=lambda: "default",
        fieldPath=lambda: word(random),
        resourceVersion=lambda: word(random),
        uid=lambda: word(random),
    )
