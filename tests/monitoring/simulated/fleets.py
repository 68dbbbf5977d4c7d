"""Fleets as the project renders them, and the pods that they become."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from components.checks.metrics.chain import MetricChain, MetricSettings, metric_chain
from components.fleet.rendered import Fleet
from tests.fleets import errors, fleet_of, open_model, playground

Json = dict[str, Any]
_GPU: Json = {"name": "a10g", "limits": {"nvidia.com/gpu": 1}}
MODEL = open_model("qwen", flavors=[_GPU])


@dataclass(frozen=True, slots=True)
class Made:
    """What the project makes of documents.

    Attributes:
        fleet: rendered without an error.
        chain: what stands behind its autoscalers; without a problem.
    """

    fleet: Fleet
    chain: MetricChain

    def find(self, kind: str, name: str, namespace: str) -> Json:
        """Return an object of the fleet."""
        bodies = [*(body for item in self.fleet.rendered for body in item.objects), *self.chain.monitors]
        wanted = (kind, name, namespace)
        (found,) = (b for b in bodies if (b["kind"], b["metadata"]["name"], b["metadata"]["namespace"]) == wanted)
        return dict(found)

    def rule(self, metric: str, kind: str = "custom") -> Json:
        """Return the adapter's rule for a metric of an autoscaler."""
        (found,) = (rule for rule in self.chain.adapter_rules[kind] if rule["name"]["as"] == metric)
        return dict(found)


def made(*documents: Json, model: Json = MODEL, settings: MetricSettings | None = None, **options: Any) -> Made:
    """Render documents with their model.

    Raises:
        AssertionError: there is an error, or a problem of the metrics.
    """
    fleet = fleet_of(model, *documents, **options)
    chain = metric_chain(fleet, settings or MetricSettings())
    problems = [*map(str, errors(fleet)), *map(str, chain.problems)]
    assert not problems, problems
    return Made(fleet, chain)


def scaled(
    name: str,
    namespace: str,
    metrics: Sequence[Json] = (),
    *,
    backend: str = "vllm",
    maximum: int = 8,
    **runtime: Any,
) -> Json:
    """A Playground with an autoscaler on these metrics; without any, on what its configuration recommends.

    ``runtime`` are fields of ``backendRuntimeConfig``.
    """
    elastic: Json = {"minReplicas": 1, "maxReplicas": maximum}
    if metrics:
        elastic["scaleTrigger"] = {"hpa": {"metrics": list(metrics)}}
    spec = {"elasticConfig": elastic, "backendRuntimeConfig": {"backendName": backend, **runtime}}
    document = playground(name, model="qwen", **spec)
    return in_namespace(document, namespace)


def in_namespace(document: Json, namespace: str) -> Json:
    """Return a document with a namespace of its own."""
    return {**document, "metadata": {**document["metadata"], "namespace": namespace}}


def pods_of(workload: Mapping[str, Any], *names: str, **labels: str) -> list[Json]:
    """Return the pods that a controller makes of a rendered workload, as the API server would show them.

    Args:
        workload: a Deployment or LeaderWorkerSet.
        names: of the pods.
        labels: those that a controller adds, by the last part of their name with ``_`` for ``-``; of the
            LeaderWorkerSet's, that is (lws-hpa spec 1.5).
    """
    metadata, spec = workload["metadata"], workload["spec"]
    group = spec.get("leaderWorkerTemplate", {})
    template = group.get("leaderTemplate") or group.get("workerTemplate") or spec["template"]
    added = {f"leaderworkerset.sigs.k8s.io/{key.replace('_', '-')}": value for key, value in labels.items()}
    carried = {**template.get("metadata", {}).get("labels", {}), **added}
    return [
        {
            "metadata": {"name": name, "namespace": metadata["namespace"], "labels": carried},
            "spec": template["spec"],
            "status": {"phase": "Running", "podIP": f"10.244.0.{number}"},
        }
        for number, name in enumerate(names, 1)
    ]
