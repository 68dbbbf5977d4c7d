"""The source of a Model's weights and how they get into the pod (LLMKube spec 3)."""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from ...contract.findings.collector import Findings
from ...contract.findings.ids import RuleId
from ...contract.names import is_dns1123_subdomain
from ...engines.shell import script_words
from ...fleet.objects import Object
from ...fleet.options import ModelCache
from ...fleet.workloads import NamedWeights
from .facts import LlmkubeRuntime, llmkube
from .hardware import MODEL_PATH
from .types.inference_service import InferenceServiceSpec, Model

FOLDER = "/models"
"""Mount path of the cache."""
_CLAIM_FOLDER = "/model-source"
_HOST_FILE = "/host-model/model.gguf"
_CACHE, _SOURCE, _HOST = "model-cache", "model-source", "host-model"
_HTTP = re.compile(r"https?://[^\s/]+(/\S*)?")
_HUB_PAGE = re.compile(
    r"https?://(?:www\.)?(?:huggingface\.co|hf\.co)/(?P<repository>[^/?#]+/[^/?#]+?)(?:/|/(?:tree|blob)/[^?#]*)?(?:[?#].*)?"
)
"""A web page of a repository, folder or file: downloading it yields HTML."""
_HUB_FILE = re.compile(
    r"https?://(?:www\.)?(?:huggingface\.co|hf\.co)/(?P<repository>[^/?#]+/[^/?#]+)/resolve/[^/]+/(?P<file>[^?#]+)(?:[?#].*)?"
)
"""The download URL of a file in a repository."""
_NOT_IN_NAME = re.compile(r"[^A-Za-z0-9._]+")
Kind = Literal["claim", "http", "local", "repository"]


@dataclass(slots=True)
class MountedWeights:
    """The volumes, init container and variables that bring a model into a pod.

    Attributes:
        path: File of the model in the container; empty if the server fetches it itself.
        mounts: Mounts of the serving container.
        loader: The init container that fetches the file, if there is one.
        env: Variables of the serving container.
        claims: Whether the namespace's cache claim is used.
    """

    path: str = ""
    volumes: list[Object] = field(default_factory=list)
    mounts: list[Object] = field(default_factory=list)
    loader: Object | None = None
    env: list[Object] = field(default_factory=list)
    claims: bool = False


def weights_of(
    spec: InferenceServiceSpec, model: Model, runtime: LlmkubeRuntime, cache: ModelCache | None, findings: Findings
) -> MountedWeights:
    """Choose how a pod gets its model.

    Args:
        spec: The service.
        model: Its Model.
        runtime: Its server.
        cache: The environment's model cache, which replaces the namespace's claim.
        findings: Receives the problems.
    """
    kind = _kind(model.spec.source)
    explicit = "format" in model.spec.model_fields_set
    if explicit and runtime.formats and model.spec.format not in runtime.formats:
        findings.warn(
            MODEL_PATH,
            f"Model {model.metadata.name!r}: format is {model.spec.format}, but {runtime.name} reads only "
            f"{', '.join(runtime.formats)}; choose another runtime, or correct it",
            RuleId.WEIGHTS_FORMAT,
        )
    if not _check_source(model, kind, findings):
        return MountedWeights()
    if spec.skip_model_init and not runtime.loads:
        findings.warn(
            "spec.skipModelInit",
            f"has no effect: {runtime.name} never has an init container; remove it",
            RuleId.FIELD_NO_EFFECT,
        )
    if kind == "claim":
        _check_unverified(model, "is on a claim, and nothing reads it before the server does", findings)
        # Mounted directly, so skipModelInit makes no difference.
        claim, _, path = model.spec.source.removeprefix("pvc://").partition("/")
        volume = {"name": _SOURCE, "persistentVolumeClaim": {"claimName": claim, "readOnly": True}}
        mount = {"name": _SOURCE, "mountPath": _CLAIM_FOLDER, "readOnly": True}
        return MountedWeights(f"{_CLAIM_FOLDER}/{path.lstrip('/')}", [volume], [mount])
    if runtime.loads and not spec.skip_model_init:
        return _with_loader(model, kind, cache, findings)
    _check_unverified(model, "is fetched by the server itself", findings)
    if cache is None:
        return MountedWeights()
    # A cache of the environment outlives the pod, so the server's own downloads go there.
    env = [{"name": name, "value": text.format(folder=FOLDER)} for name, text in runtime.cache.items()]
    return MountedWeights(volumes=[_cache_volume(cache)], mounts=[{"name": _CACHE, "mountPath": FOLDER}], env=env)


def cache_claim(namespace: str) -> Object:
    """Return the claim that the services of a namespace share (LLMKube spec 3.4)."""
    claim = llmkube().claim
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": claim.name, "namespace": namespace, "labels": dict(claim.labels)},
        "spec": {"accessModes": [claim.access], "resources": {"requests": {"storage": claim.size}}},
    }


def named_weights(model: Model, path: str) -> Iterator[NamedWeights]:
    """Yield the origin of a Model's weights, keyed by the path or source that the server loads.

    Args:
        model: The Model.
        path: Its file in the container; empty if the server fetches it.
    """
    source = model.spec.source
    kind, hub = _kind(source), _HUB_FILE.fullmatch(source)
    loaded_as = path or source.removeprefix("file://")
    if hub:
        yield NamedWeights(loaded_as, hub["repository"], hub["file"])
    elif kind != "repository" and path:
        yield NamedWeights(loaded_as, source, source.rpartition("/")[2] if source.endswith(".gguf") else "")


# -- sources


def _kind(source: str) -> Kind:
    """Classify a source; a name without a scheme is a repository."""
    if source.startswith("pvc://"):
        return "claim"
    if source.startswith(("http://", "https://")):
        return "http"
    return "local" if source.startswith(("file://", "/")) else "repository"


def _check_source(model: Model, kind: Kind, findings: Findings) -> bool:
    """Report a source that matches the contract's pattern but cannot be fetched; return whether it can."""
    source = model.spec.source
    fault = ""
    if kind == "claim":
        claim, _, path = source.removeprefix("pvc://").partition("/")
        if not is_dns1123_subdomain(claim) or not path.strip("/") or ".." in path.split("/"):
            fault = "must be pvc://<claim>/<path of the file>, without '..'"
    elif kind == "http" and not _HTTP.fullmatch(source):
        fault = "must be a URL such as https://example.com/model.gguf, without whitespace"
    elif kind == "http" and (page := _HUB_PAGE.fullmatch(source)):
        repository = page["repository"]
        fault = (
            f"is a page of the hub, not a file; write {repository} for the whole repository, which the server "
            f"fetches with skipModelInit: true, or https://huggingface.co/{repository}/resolve/main/<file>"
        )
    elif kind == "local":
        path = _local_path(source)
        if not path.startswith("/") or not path.strip("/") or ".." in path.split("/") or "\n" in path:
            fault = "must be an absolute path such as file:///srv/model.gguf, without '..'"
    if fault:
        findings.error(
            MODEL_PATH, f"Model {model.metadata.name!r}: source {fault}, found {source!r}", RuleId.WEIGHTS_UNREACHABLE
        )
    return not fault


def _local_path(source: str) -> str:
    return source.removeprefix("file://")


def _check_unverified(model: Model, why: str, findings: Findings) -> None:
    if model.spec.sha256:
        subject = f"Model {model.metadata.name!r}: sha256"
        findings.warn(
            MODEL_PATH,
            f"{subject} has no effect: the model {why}; verify it beforehand, and remove sha256",
            RuleId.FIELD_NO_EFFECT,
        )
    if model.spec.refresh_policy == "OnChange":
        subject = f"Model {model.metadata.name!r}: refreshPolicy"
        findings.warn(
            MODEL_PATH, f"{subject} OnChange has no effect: the model {why}; remove it", RuleId.FIELD_NO_EFFECT
        )


# -- init container and cache


def _with_loader(model: Model, kind: Kind, cache: ModelCache | None, findings: Findings) -> MountedWeights:
    """Download the file into the cache with an init container; the server mounts the cache read-only."""
    source = model.spec.source
    if kind == "repository":
        findings.error(
            "spec.skipModelInit",
            f"Model {model.metadata.name!r} comes from the repository {source!r}, which only the server can fetch, "
            "not the init container; set skipModelInit: true",
            RuleId.WEIGHTS_UNREACHABLE,
        )
        return MountedWeights()
    # The operator's cache key (LLMKube spec 3).
    folder = f"{FOLDER}/{hashlib.sha256(source.encode()).hexdigest()[:16]}"
    # The file is named after the Model, because the name in its header is unknown before the download.
    name = re.sub("-+", "-", _NOT_IN_NAME.sub("-", model.metadata.name)).strip("-._") or "model"
    path = f"{folder}/{name}.gguf"
    mounts: list[Object] = [{"name": _CACHE, "mountPath": FOLDER}]
    volumes = [_cache_volume(cache)]
    if kind == "local":
        mounts.append({"name": _HOST, "mountPath": _HOST_FILE, "readOnly": True})
        volumes.append({"name": _HOST, "hostPath": {"path": _local_path(source), "type": "File"}})
    env = {"MODEL_SOURCE": source, "CACHE_DIR": folder, "MODEL_PATH": path}
    if model.spec.sha256:
        env["MODEL_SHA256"] = model.spec.sha256.lower()
    loader = {
        "name": "model-downloader",
        "image": llmkube().loader_image,
        "command": list(script_words(script(kind, on_change=model.spec.refresh_policy == "OnChange"), "load")),
        "env": [{"name": variable, "value": value} for variable, value in env.items()],
        "volumeMounts": mounts,
    }
    return MountedWeights(
        path=path,
        volumes=volumes,
        mounts=[{**mounts[0], "readOnly": True}],
        loader=loader,
        claims=cache is None,
    )


def _cache_volume(cache: ModelCache | None) -> Object:
    if cache and cache.host_path:
        return {"name": _CACHE, "hostPath": {"path": cache.host_path, "type": "DirectoryOrCreate"}}
    claim = cache.claim if cache else llmkube().claim.name
    return {"name": _CACHE, "persistentVolumeClaim": {"claimName": claim}}


def script(kind: str, *, on_change: bool) -> str:
    """Return the init container's script for a source of kind ``http`` or ``local``."""
    parts = llmkube().scripts
    middle = [f"{kind}_on_change"] if on_change else ["if_not_present", kind]
    return "".join(parts[name] for name in ("begin", *middle, "end"))
