"""The source of a Model's weights and how they get into the pod (LLMKube spec 3)."""

import functools
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Literal

from ...contract.findings.collector import Findings
from ...contract.findings.ids import RuleId
from ...contract.names import is_dns1123_subdomain
from ...contract.texts.vocabulary import Vocabulary, register_vocabulary
from ...engines.shell import is_script_of, script_words
from ...fleet.objects import Object
from ...fleet.options import ModelCache
from ...fleet.workloads import NamedWeights
from .facts import LlmkubeRuntime, llmkube
from .hardware import MODEL_PATH
from .types.inference_service import InferenceServiceSpec, Model, ModelCacheSpec

FOLDER = "/models"
"""Mount path of the cache."""
_CLAIM_FOLDER = "/model-source"
_HOST_FILE = "/host-model/model.gguf"
_CACHE, _SOURCE, _HOST = "model-cache", "model-source", "host-model"
_EPHEMERAL = "model-storage"
DRAFT_PATH = "spec.speculativeDecoding.draftModelRef"
_DRAFT = "draft-"
_CLAIM, _BUCKET, _HUB = "pvc://", "s3://", "hf://"
_HUB_ADDRESS = "https://huggingface.co/{repository}/resolve/{revision}"
_GLOB = re.compile(r"[*?\[]")
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
Kind = Literal["claim", "http", "local", "repository", "bucket"]


@dataclass(slots=True)
class MountedWeights:
    """The volumes, init containers and variables that bring a model into a pod.

    Attributes:
        path: File or folder of the model in the container; empty if the server fetches it itself.
        folder: The folder with the files of the Model; empty if they are not known.
        mounts: Mounts of the serving container.
        loaders: The init containers that fetch files.
        env: Variables of the serving container.
        claims: Whether the namespace's cache claim is used.
    """

    path: str = ""
    volumes: list[Object] = field(default_factory=list)
    mounts: list[Object] = field(default_factory=list)
    loaders: list[Object] = field(default_factory=list)
    env: list[Object] = field(default_factory=list)
    claims: bool = False
    folder: str = ""

    def beside(self, file: str) -> str:
        """Return the path in the container of another file of the Model; empty if the pod has no files."""
        return f"{self.folder}/{file}" if self.folder and file else ""


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
    if not _check_source(model, kind, findings) or not _check_files(model, kind, findings):
        return MountedWeights()
    place = _CachePlace(cache, spec)
    if kind == "claim":
        place.warn_of_no_effect("the Model is on a claim of its own", findings)
        _check_unverified(model, "is on a claim, and nothing reads it before the server does", findings)
        return _on_claim(model)
    if runtime.loads and not spec.skip_model_init:
        return _with_loader(model, kind, runtime, place, findings)
    place.warn_of_no_effect("no init container fetches the model", findings)
    _check_unverified(model, "is fetched by the server itself", findings)
    if model.spec.files or model.spec.mmproj:
        reason = (
            "files and mmproj have no effect: no init container fetches them; remove skipModelInit, or remove them"
        )
        findings.warn(MODEL_PATH, f"Model {model.metadata.name!r}: {reason}", RuleId.FIELD_NO_EFFECT)
    if cache is None or not runtime.cache:
        return MountedWeights()
    # A cache of the environment outlives the pod, so the server's own downloads go there.
    env = [{"name": name, "value": text.format(folder=FOLDER)} for name, text in runtime.cache.items()]
    return MountedWeights(volumes=[_cache_volume(cache)], mounts=[{"name": _CACHE, "mountPath": FOLDER}], env=env)


def has_own_cache(spec: InferenceServiceSpec) -> bool:
    """Return whether a service names a place for its downloads, which replaces the environment's cache."""
    own = spec.model_cache
    return own is not None and (own.claim_name is not None or own.persistence == "Ephemeral")


@dataclass(frozen=True, slots=True)
class _CachePlace:
    """The volume into which init containers download: the service's, else the environment's, else the namespace's.

    Attributes:
        cache: The environment's model cache.
        spec: The service.
    """

    cache: ModelCache | None
    spec: InferenceServiceSpec

    @property
    def own(self) -> ModelCacheSpec:
        return self.spec.model_cache or ModelCacheSpec()

    @property
    def is_ephemeral(self) -> bool:
        """Whether the files are downloaded for every pod."""
        return self.own.persistence == "Ephemeral"

    @property
    def name(self) -> str:
        return _EPHEMERAL if self.is_ephemeral else _CACHE

    @property
    def is_claimed(self) -> bool:
        """Whether it is the claim of the namespace."""
        return self.cache is None and not self.is_ephemeral and self.own.claim_name is None

    def volume(self) -> Object:
        storage = self.spec.resources.ephemeral_storage if self.spec.resources else None
        if self.is_ephemeral:
            return {"name": _EPHEMERAL, "emptyDir": {"sizeLimit": storage} if storage else {}}
        if self.own.claim_name is not None:
            return {"name": _CACHE, "persistentVolumeClaim": {"claimName": self.own.claim_name}}
        return _cache_volume(self.cache)

    def check(self, findings: Findings) -> None:
        """Report settings that contradict each other, and downloads that may fill a node."""
        if self.is_ephemeral and self.own.claim_name is not None:
            reason = "cannot be combined with persistence Ephemeral, which uses no claim; remove one of the two"
            findings.error("spec.modelCache.claimName", reason)
        if self.is_ephemeral and not (self.spec.resources and self.spec.resources.ephemeral_storage):
            findings.warn(
                "spec.modelCache.persistence",
                "downloads the model to the local disk of the node without a limit, and a full node evicts other "
                "pods too; set resources.ephemeralStorage above the size of the model",
                RuleId.STORAGE_UNPROVISIONED,
            )

    def warn_of_no_effect(self, why: str, findings: Findings) -> None:
        for field_name, value in (("claimName", self.own.claim_name), ("persistence", self.own.persistence)):
            if value is not None:
                reason = f"has no effect: {why}; remove it"
                findings.warn(f"spec.modelCache.{field_name}", reason, RuleId.FIELD_NO_EFFECT)


def _on_claim(model: Model, prefix: str = "") -> MountedWeights:
    """Mount a Model's claim directly, so skipModelInit makes no difference."""
    claim, _, path = model.spec.source.removeprefix(_CLAIM).partition("/")
    root = f"/{prefix.rstrip('-')}{_CLAIM_FOLDER}" if prefix else _CLAIM_FOLDER
    name = f"{prefix}{_SOURCE}"
    volume = {"name": name, "persistentVolumeClaim": {"claimName": claim, "readOnly": True}}
    mount = {"name": name, "mountPath": root, "readOnly": True}
    file = f"{root}/{path.lstrip('/')}"
    # The source names the first of several files; the others are found from the folder above all of them.
    primary = (model.spec.files or [""])[0]
    folder = file.removesuffix(f"/{primary}") if primary else ""
    return MountedWeights(
        file, [volume], [mount], folder=str(PurePosixPath(file).parent) if folder == file else folder
    )


@dataclass(frozen=True, slots=True)
class Draft:
    """The draft model of a llama.cpp server.

    Attributes:
        model: Its Model.
        weights: How its file gets into the pod.
        repository: Repository from which the server fetches it; empty if it is a file.
    """

    model: Model
    weights: MountedWeights
    repository: str = ""


def draft_of(
    spec: InferenceServiceSpec, model: Model, served: MountedWeights, cache: ModelCache | None, findings: Findings
) -> Draft | None:
    """Choose how a pod gets its draft model; None after an error. What the served model has already is shared."""
    kind = _kind(model.spec.source)
    if not _check_source(model, kind, findings, DRAFT_PATH) or not _check_files(model, kind, findings, DRAFT_PATH):
        return None
    name = model.metadata.name
    if kind == "claim":
        mounted = _on_claim(model, _DRAFT)
        shared = next((v for v in served.volumes if v["name"] == _SOURCE), None)
        if shared and shared["persistentVolumeClaim"] == mounted.volumes[0]["persistentVolumeClaim"]:
            return Draft(model, _on_claim(model))
        return Draft(model, mounted)
    if kind == "repository" and not model.spec.files:
        return Draft(model, MountedWeights(), repository_of(model.spec.source))
    if spec.skip_model_init:
        findings.error(
            DRAFT_PATH,
            f"Model {name!r} comes from {model.spec.source!r}, which only an init container fetches; remove "
            "skipModelInit, or use a repository or a claim",
            RuleId.WEIGHTS_UNREACHABLE,
        )
        return None
    loaded = _with_loader(
        model,
        kind,
        runtime=llmkube().runtimes["llamacpp"],
        place=_CachePlace(cache, spec),
        findings=findings,
        at=DRAFT_PATH,
    )
    for loader in loaded.loaders:
        loader["name"] = f"{_DRAFT}{loader['name']}"
        loader["volumeMounts"] = [
            {**mount, "name": f"{_DRAFT}{_HOST}"} if mount["name"] == _HOST else mount
            for mount in loader["volumeMounts"]
        ]
    for volume in loaded.volumes:
        volume["name"] = f"{_DRAFT}{_HOST}" if volume["name"] == _HOST else volume["name"]
    return Draft(model, loaded)


def merged(served: MountedWeights, draft: MountedWeights) -> MountedWeights:
    """Return the weights of both models; a volume or mount of both appears once."""
    return MountedWeights(
        path=served.path,
        volumes=[*served.volumes, *(volume for volume in draft.volumes if volume not in served.volumes)],
        mounts=[*served.mounts, *(mount for mount in draft.mounts if mount not in served.mounts)],
        loaders=[*served.loaders, *draft.loaders],
        env=served.env,
        claims=served.claims or draft.claims,
        folder=served.folder,
    )


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
    elif kind == "repository" and path:
        # Several files of a repository, of which the first one, or their folder, is loaded.
        file = (model.spec.files or [""])[0]
        yield NamedWeights(path, repository_of(source), file if path.endswith(f"/{file}") else "")
    elif kind == "repository" and repository_of(source) != source:
        yield NamedWeights(repository_of(source), repository_of(source), "")
    elif kind != "repository" and path:
        yield NamedWeights(loaded_as, source, source.rpartition("/")[2] if source.endswith(".gguf") else "")


# -- sources


def repository_of(source: str) -> str:
    """Return the repository that a source names, without the scheme and the revision."""
    return source.removeprefix(_HUB).partition("@")[0] if source.startswith(_HUB) else source


def revision_of(source: str) -> str:
    """Return the branch, tag or commit that a source names after ``@``; empty for the default."""
    return source.partition("@")[2] if source.startswith(_HUB) else ""


def _kind(source: str) -> Kind:
    """Classify a source; a name without a scheme is a repository."""
    if source.startswith(_CLAIM):
        return "claim"
    if source.startswith(_BUCKET):
        return "bucket"
    if source.startswith(("http://", "https://")):
        return "http"
    return "local" if source.startswith(("file://", "/")) else "repository"


def _check_source(model: Model, kind: Kind, findings: Findings, at: str = MODEL_PATH) -> bool:
    """Report a source that matches the contract's pattern but cannot be fetched; return whether it can."""
    source = model.spec.source
    fault = ""
    if kind == "claim":
        claim, _, path = source.removeprefix("pvc://").partition("/")
        if not is_dns1123_subdomain(claim) or not path.strip("/") or ".." in path.split("/"):
            fault = "must be pvc://<claim>/<path of the file>, without '..'"
    elif kind == "http" and not _HTTP.fullmatch(source):
        fault = "must be a URL such as https://example.com/model.gguf, without whitespace"
    elif kind == "http" and not model.spec.files and (page := _HUB_PAGE.fullmatch(source)):
        repository = page["repository"]
        fault = (
            f"is a page of the hub, not a file; write {repository} for the whole repository, which the server "
            f"fetches with skipModelInit: true, or https://huggingface.co/{repository}/resolve/main/<file>"
        )
    elif kind == "local":
        path = _local_path(source)
        if not path.startswith("/") or not path.strip("/") or ".." in path.split("/") or "\n" in path:
            fault = "must be an absolute path such as file:///srv/model.gguf, without '..'"
    elif kind == "bucket" and not re.fullmatch(r"s3://[^/\s]+/[^\s]+", source):
        fault = "must be s3://<bucket>/<key>, without whitespace"
    elif source.startswith(_HUB) and not re.fullmatch(r"hf://[\w.-]+/[\w.-]+(@[^\s@]+)?", source, re.ASCII):
        fault = "must be hf://<organization>/<name> or hf://<organization>/<name>@<revision>"
    subject = f"Model {model.metadata.name!r}"
    if fault:
        findings.error(at, f"{subject}: source {fault}, found {source!r}", RuleId.WEIGHTS_UNREACHABLE)
    secret = model.spec.source_secret_ref
    if kind == "bucket" and not (secret and secret.name):
        findings.error(
            at,
            f"{subject} comes from a bucket, and nothing names its address and credentials; set sourceSecretRef to a "
            "Secret with AWS_ENDPOINT_URL, AWS_REGION, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
            RuleId.REFERENCE_MISSING,
        )
    elif kind != "bucket" and secret is not None:
        reason = f"{subject}: sourceSecretRef has no effect: only an s3:// source has credentials; remove it"
        findings.warn(at, reason, RuleId.FIELD_NO_EFFECT)
    return not fault


def _check_files(model: Model, kind: Kind, findings: Findings, at: str = MODEL_PATH) -> bool:
    """Report files that nothing can fetch; return whether all can be."""
    files, projector = model.spec.files or [], model.spec.mmproj
    subject = f"Model {model.metadata.name!r}"
    faults = []
    if projector and not files:
        faults.append("mmproj requires files, of which the first is the model; set them")
    for file in (*files, *((projector,) if projector is not None else ())):
        wrong = not file or file.startswith("/") or ".." in file.split("/") or re.search(r"\s", file)
        if wrong or _GLOB.search(file):
            what = "a pattern, which nobody expands" if not wrong else "not a path below the source"
            faults.append(f"file {file!r} is {what}; write the path of each file, such as model-00001-of-00002.gguf")
    if files and kind == "local":
        faults.append("files cannot be copied from a path of the node; use one file, or another source")
    for fault in faults:
        findings.error(at, f"{subject}: {fault}", RuleId.WEIGHTS_UNREACHABLE)
    return not faults


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


def _with_loader(
    model: Model, kind: Kind, runtime: LlmkubeRuntime, place: _CachePlace, findings: Findings, at: str = MODEL_PATH
) -> MountedWeights:
    """Download the files into the cache with an init container; the server mounts the cache read-only."""
    source, files = model.spec.source, model.spec.files
    if kind == "repository" and not files:
        findings.error(
            "spec.skipModelInit",
            f"Model {model.metadata.name!r} comes from the repository {source!r}, which only the server can fetch, "
            "not the init container; set skipModelInit: true",
            RuleId.WEIGHTS_UNREACHABLE,
        )
        return MountedWeights()
    place.check(findings)
    # The operator's cache key (LLMKube spec 3).
    folder = f"{FOLDER}/{hashlib.sha256(source.encode()).hexdigest()[:16]}"
    mounts: list[Object] = [{"name": place.name, "mountPath": FOLDER}]
    volumes = [place.volume()]
    on_change = model.spec.refresh_policy == "OnChange"
    if files:
        if model.spec.sha256:
            reason = "sha256 has no effect: it is of one file, but there are several; remove it"
            findings.warn(at, f"Model {model.metadata.name!r}: {reason}", RuleId.FIELD_NO_EFFECT)
        path, env = _several(model, files, kind, folder, runtime)
        text = files_script(kind, on_change=on_change)
    else:
        # The file is named after the Model, because the name in its header is unknown before the download.
        name = re.sub("-+", "-", _NOT_IN_NAME.sub("-", model.metadata.name)).strip("-._") or "model"
        path = f"{folder}/{name}.gguf"
        env = {"MODEL_SOURCE": source, "CACHE_DIR": folder, "MODEL_PATH": path}
        if model.spec.sha256:
            env["MODEL_SHA256"] = model.spec.sha256.lower()
        if kind == "bucket":
            env |= _bucket_env(source)
            if on_change:
                reason = "refreshPolicy OnChange has no effect on a single file of a bucket; name it in files"
                findings.warn(at, f"Model {model.metadata.name!r}: {reason}", RuleId.FIELD_NO_EFFECT)
        text = script(kind, on_change=on_change)
    if kind == "local":
        mounts.append({"name": _HOST, "mountPath": _HOST_FILE, "readOnly": True})
        volumes.append({"name": _HOST, "hostPath": {"path": _local_path(source), "type": "File"}})
    loader = {
        "name": "model-downloader",
        "image": llmkube().loader_image,
        "command": list(script_words(text, "load")),
        "env": [{"name": variable, "value": value} for variable, value in env.items()],
        "volumeMounts": mounts,
    }
    secret = model.spec.source_secret_ref
    if kind == "bucket" and secret:
        loader["envFrom"] = [{"secretRef": {"name": secret.name}}]
    return MountedWeights(
        path=path,
        volumes=volumes,
        mounts=[{**mounts[0], "readOnly": True}],
        loaders=[loader],
        claims=place.is_claimed,
        folder=folder if files else "",
    )


def _several(
    model: Model, files: list[str], kind: Kind, folder: str, runtime: LlmkubeRuntime
) -> tuple[str, dict[str, str]]:
    """Return what the server loads of several files, and the variables of the container that fetches them."""
    source = model.spec.source
    if kind == "repository":
        address = _HUB_ADDRESS.format(repository=repository_of(source), revision=revision_of(source) or "main")
    elif page := _HUB_PAGE.fullmatch(source):
        address = _HUB_ADDRESS.format(repository=page["repository"], revision="main")
    else:
        address = source.rstrip("/")
    names = dict.fromkeys((*files, *((model.spec.mmproj,) if model.spec.mmproj else ())))
    explicit = "format" in model.spec.model_fields_set and model.spec.format != "gguf"
    path = folder if runtime.folders and explicit else f"{folder}/{files[0]}"
    found = _bucket_env(source.rstrip("/")) if kind == "bucket" else {"MODEL_ADDRESS": address}
    return path, {**found, "CACHE_DIR": folder, "MODEL_FILES": "\n".join(names)}


def _bucket_env(source: str) -> dict[str, str]:
    bucket, _, key = source.removeprefix(_BUCKET).partition("/")
    return {"MODEL_BUCKET": bucket, "MODEL_OBJECT": key}


def _cache_volume(cache: ModelCache | None) -> Object:
    if cache and cache.host_path:
        return {"name": _CACHE, "hostPath": {"path": cache.host_path, "type": "DirectoryOrCreate"}}
    claim = cache.claim if cache else llmkube().claim.name
    return {"name": _CACHE, "persistentVolumeClaim": {"claimName": claim}}


def script(kind: str, *, on_change: bool) -> str:
    """Return the init container's script for one file of a source of kind ``http``, ``local`` or ``bucket``."""
    parts = llmkube().scripts
    if kind == "bucket":
        middle = ["if_not_present", "bucket", "s3"]
    else:
        middle = [f"{kind}_on_change"] if on_change else ["if_not_present", kind]
    return "".join(parts[name] for name in ("begin", *middle, "end"))


def files_script(kind: str, *, on_change: bool) -> str:
    """Return the init container's script for several files of a source."""
    parts = llmkube().scripts
    get = "bucket" if kind == "bucket" else "web"
    return "".join(parts[name] for name in ("files_begin", get, "files_on_change" if on_change else "files"))


@functools.cache
def _scripts() -> tuple[str, ...]:
    scripts = list[str]()
    for kind in ("http", "local", "bucket"):
        for on_change in (True, False):
            scripts += [script(kind, on_change=on_change), files_script(kind, on_change=on_change)]
    return tuple(scripts)


register_vocabulary(lambda: Vocabulary(is_script=lambda text: is_script_of(text, _scripts())))
