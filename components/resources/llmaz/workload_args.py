"""What Playground and Service share: arguments about pods, and the claim of a model."""

from typing import Any, TypedDict

from ..serving.arguments import Arguments, compact

_SKIP_LOADER = "llmaz.io/skip-model-loader"


class WorkloadArgs(TypedDict, total=False):
    """Arguments of every component that runs pods. All are plain: they decide which objects there are."""

    name: str
    """Name of the Kubernetes objects. Default: the component's name."""
    namespace: str
    """Namespace of the Kubernetes objects. Default: default."""
    realization: str
    """native renders plain Kubernetes objects; operator creates the llmaz resource. Default: native."""
    workload: str
    """auto, lws or deployment. auto creates a LeaderWorkerSet only if a replica spans several pods. Default: auto."""
    runtimes: str
    """Edition of the shipped runtimes: upstream or current. Default: upstream."""
    tolerations: list[dict[str, Any]]
    """Tolerations to add to every pod."""
    service_account_name: str
    """Service account of the pods."""
    image_pull_secrets: list[str]
    """Names of Secrets to pull images with."""
    priority_class_name: str
    """Priority class of the pods."""
    pod_annotations: dict[str, str]
    """Annotations to add to every pod."""
    pod_labels: dict[str, str]
    """Labels to add to every pod."""
    cache_claim: str
    """PersistentVolumeClaim that keeps loaded weights across pod restarts."""
    cache_host_path: str
    """Folder on the node that keeps loaded weights across pod restarts."""
    skip_model_loader: bool
    """Whether the engine fetches the weights itself, from the model ID or URI."""
    autoscaled: bool
    """Whether an autoscaler of another component, owns the replicas. Default: false."""


def metadata_of(name: str, given: Arguments) -> dict[str, Any]:
    """Return the metadata of the resource that a component describes."""
    metadata: dict[str, Any] = {"name": given.get("name", name), "namespace": given.get("namespace", "default")}
    if given.get("skip_model_loader"):
        metadata["annotations"] = {_SKIP_LOADER: "true"}
    return metadata


def claimed_models(given: Arguments) -> list[dict[str, Any]]:
    """Return the main model of a component and its draft, if there is one, in wire form.

    Raises:
        InvalidArguments: one of them is not a manifest, or something else is wrong; every problem is listed.
    """
    models = [given.manifest(key, "OpenModel") for key in ("model", "draft_model") if key in ("model", *given.values)]
    given.check()
    return models


def claim(models: list[dict[str, Any]], flavors: list[str] | None, *, several: bool) -> dict[str, Any]:
    """Return the claim of a model and its draft, in the form for one or for several."""
    names = [model["metadata"]["name"] for model in models]
    if not several:
        return {"modelClaim": compact({"modelName": names[0], "inferenceFlavors": flavors})}
    claimed = [{"name": name, "role": role} for name, role in zip(names, ("main", "draft"), strict=False)]
    return {"modelClaims": compact({"models": claimed, "inferenceFlavors": flavors})}
