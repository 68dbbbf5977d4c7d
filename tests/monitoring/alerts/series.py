"""Series that alerts look at, with the labels that they arrive with."""

from collections.abc import Mapping

NAMESPACE = "serving"


def served(series: str, engine: str, pod: int = 0, /, **more: str) -> str:
    """A series of an engine's pod, with the labels that its PodMonitor gives it."""
    own = {"namespace": NAMESPACE, "model": "qwen", "workload": engine, "pod": f"{engine}-{pod}"}
    return _series(series, {**own, **more})


def state(series: str, **labels: str) -> str:
    """A series of kube-state-metrics about something in the models' namespace."""
    return _series(series, {"namespace": NAMESPACE, "job": "kube-state-metrics", **labels})


def autoscaler(series: str, name: str = "vllm", **labels: str) -> str:
    return state(f"kube_horizontalpodautoscaler_{series}", horizontalpodautoscaler=name, **labels)


def blind(name: str) -> str:
    return autoscaler("status_condition", name, condition="ScalingActive", status="false")


def gpu(series: str) -> str:
    """A series of the GPU exporter."""
    return _series(series, {"Hostname": "gpu-1", "gpu": "0"})


def _series(name: str, labels: Mapping[str, str]) -> str:
    written = ",".join(f'{key}="{value}"' for key, value in labels.items())
    return f"{name}{{{written}}}"
