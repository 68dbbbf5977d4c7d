"""Load or mount a model's weights where the engine expects them (llmaz spec 2.6, points 4 to 7)."""

import hashlib
import json
from typing import Any

from ...contract.findings.collector import Findings
from ...contract.findings.ids import RuleId
from ...contract.texts.vocabulary import Vocabulary, register_vocabulary
from ...engines.shell import is_script_of, script_words
from ...fleet.objects import Object
from ...fleet.options import ModelCache, Options
from ...fleet.serving import stricter_settings
from .models import MODEL_ROOT, Claim, WeightSource, source_of
from .types import OpenModel

RUNNER = "model-runner"
SKIP_LOADER = "llmaz.io/skip-model-loader"
"""Annotation with which the engine fetches the weights itself, since v0.1.4."""
LOADER_IMAGE = "inftyai/model-loader:v0.0.10"
"""The image that llmaz v0.1.4 compiles in (llmaz spec 2.6.1)."""
VOLUME = "model-volume"
_HUB_SECRET = "modelhub-secret"  # noqa: S105  names of Secrets, not secrets
_OSS_SECRET = "oss-access-secret"  # noqa: S105
_AWS_SECRET = "aws-access-secret"  # noqa: S105
_HUB_TOKENS = ("HUGGING_FACE_HUB_TOKEN", "HF_TOKEN")
_OSS_KEYS = ("OSS_ACCESS_KEY_ID", "OSS_ACCESS_KEY_SECRET")
_AWS_KEYS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
_LOAD: tuple[str, ...] = ("python", "main.py")
"""Default command of the loader image."""
_FOLDER_LOAD = """\
import os, sys
from omnistore.objstore import StoreFactory
client = StoreFactory.new_client(
    provider=os.environ["PROVIDER"], endpoint=os.environ["ENDPOINT"], bucket=os.environ["BUCKET"])
client.download_dir(os.environ["MODEL_PATH"], sys.argv[1])
"""
"""The image takes a last segment with a dot for a file; this uses its library to download the folder instead."""
_LOAD_ONCE = f"""\
marker="$1"
shift
exec 9> {MODEL_ROOT}.lock && flock 9
if [ -f "$marker" ]; then echo "weights are complete: $marker"; exit 0; fi
"$@" && touch "$marker"
"""
"""Loads unless an earlier load is complete; a lock serializes pods that share the cache (llmaz spec 6.1)."""
register_vocabulary(lambda: Vocabulary(is_script=lambda text: is_script_of(text, (_LOAD_ONCE, _FOLDER_LOAD))))


def mount_models(spec: Object, claim: Claim, options: Options, findings: Findings) -> None:
    """Add the loaders and mounts of the claimed models to a pod spec, in place.

    The leader of a group may have no container that runs the model. It gets the weights only if another container
    mounts their volume by name.
    """
    runner = next((c for c in spec["containers"] if c["name"] == RUNNER), None)
    if claim.skip_loader:
        if runner:
            _give_credentials(runner, claim, findings)
        return
    mounted = (mount["name"] for container in spec["containers"] for mount in container.get("volumeMounts") or ())
    if not runner and VOLUME not in mounted:
        return
    # Ollama fetches models itself, and models of the host are on the node.
    loaded = [
        (index, model)
        for index, model in enumerate(claim.models)
        if source_of(model).scheme == "hub" or source_of(model).object_store
    ]
    # As in llmaz, loaders get the variables of the first container (llmaz spec 2.6).
    base_env = spec["containers"][0].get("env") or []
    for index, model in loaded:
        loader = _loader(index, model, base_env=base_env, claim=claim, options=options, findings=findings)
        restrictions = stricter_settings(runner and runner.get("securityContext"), spec.get("securityContext"))
        spec.setdefault("initContainers", []).append(
            {**loader, "securityContext": restrictions} if restrictions else loader
        )
    if runner:
        _mount_hosts(spec, runner, claim, findings, shared=bool(loaded))
    if loaded:
        cache = options.cache
        volume: Object = {"emptyDir": {}}
        if cache and cache.claim:
            volume = {"persistentVolumeClaim": {"claimName": cache.claim}}
        elif cache:
            volume = {"hostPath": {"path": cache.host_path, "type": "DirectoryOrCreate"}}
        _add_volume(spec, {"name": VOLUME, **volume})
        if runner:
            _add_mount(runner, _weights_mount(claim, options.cache, read_only=True))


def _loader(
    index: int, model: OpenModel, base_env: list[Object], claim: Claim, options: Options, findings: Findings
) -> Object:
    source = source_of(model)
    # llmaz gives the loader no variables for these, and it exits with "unknown source type" (llmaz spec 2.6).
    if source.scheme in ("s3", "gcs"):
        findings.error(
            claim.paths[index],
            f"OpenModel {model.metadata.name!r} comes from {source.uri!r}, which the model loader cannot fetch; "
            "set the annotation llmaz.io/skip-model-loader: 'true' and use an engine that streams weights",
            RuleId.WEIGHTS_UNREACHABLE,
        )
    container: Object = {
        "name": "model-loader" if index == 0 else f"model-loader-{index}",
        "image": options.loader_image or LOADER_IMAGE,
    }
    load, folder = _LOAD, source.last_segment
    if source.scheme == "oss" and not source.is_file and "." in folder:
        load = ("python", "-c", _FOLDER_LOAD, f"{MODEL_ROOT}models--{folder}")
    if options.cache:
        marker = f"{MODEL_ROOT}.complete-{model.metadata.name}"
        container["command"] = list(script_words(_LOAD_ONCE, "load", marker, *load))
    elif load != _LOAD:
        container["command"] = list(load)
    container["env"] = _merged(base_env, _loader_env(source))
    container["volumeMounts"] = [_weights_mount(claim, options.cache, read_only=False)]
    return container


def _weights_mount(claim: Claim, cache: ModelCache | None, *, read_only: bool) -> Object:
    mount: Object = {"name": VOLUME, "mountPath": MODEL_ROOT}
    if cache:
        # Named after its content, so that other revisions or files never mix with these weights.
        origins = [model.spec.source.wire() for model in claim.models]
        digest = hashlib.sha256(json.dumps(origins, sort_keys=True).encode()).hexdigest()
        mount["subPath"] = f"{claim.main.metadata.name}-{digest[:8]}"
    return {**mount, "readOnly": True} if read_only else mount


def _mount_hosts(spec: Object, runner: Object, claim: Claim, findings: Findings, *, shared: bool) -> None:
    """Mount the folders of ``host://`` models at their paths on the node."""
    paths: dict[str, int] = {}
    for index, model in enumerate(claim.models):
        if source_of(model).scheme == "host":
            address = source_of(model).address
            if ":" in address:
                reason = f"OpenModel {model.metadata.name!r} comes from {source_of(model).uri!r}"
                findings.error(
                    claim.paths[index],
                    f"{reason}, but Kubernetes cannot mount a path that contains ':'; rename it",
                    RuleId.WEIGHTS_UNREACHABLE,
                )
            paths.setdefault(address, index)
    for path, index in paths.items():
        # Upstream gives every volume the same name, which the API server rejects (llmaz spec 2.6).
        name = VOLUME if index == 0 and not shared else f"{VOLUME}-{index}"
        _add_volume(spec, {"name": name, "hostPath": {"path": path}})
        _add_mount(runner, {"name": name, "mountPath": path, "readOnly": True})


def _give_credentials(runner: Object, claim: Claim, findings: Findings) -> None:
    """Let the engine fetch the weights itself (``skip-model-loader``)."""
    for path, model in zip(claim.paths, claim.models, strict=True):
        source = source_of(model)
        if source.scheme in ("host", "ollama"):
            findings.error(
                path,
                f"OpenModel {model.metadata.name!r} comes from {source.uri!r}, which does not use the model loader; "
                "remove the annotation llmaz.io/skip-model-loader",
                RuleId.WEIGHTS_UNREACHABLE,
            )
            continue
        env = _merged(runner.get("env") or [], _credentials(source), always=False)
        if env:
            runner["env"] = env


def _credentials(source: WeightSource) -> list[Object]:
    if source.scheme == "hub":
        return [_from_secret(name, _HUB_SECRET, "HF_TOKEN") for name in _HUB_TOKENS]
    secret, keys = (_OSS_SECRET, _OSS_KEYS) if source.scheme == "oss" else (_AWS_SECRET, _AWS_KEYS)
    return [_from_secret(key, secret, key) for key in keys]


def _loader_env(source: WeightSource) -> list[Object]:
    if source.hub:
        hub = source.hub
        pairs = [("MODEL_SOURCE_TYPE", "modelhub"), ("MODEL_ID", hub.model_id), ("MODEL_HUB_NAME", hub.name)]
        pairs += [("MODEL_FILENAME", hub.filename)] if hub.filename else []
        pairs += [("REVISION", hub.revision)] if hub.revision else []
        pairs += [("MODEL_ALLOW_PATTERNS", ",".join(hub.allow_patterns))] if hub.allow_patterns else []
        pairs += [("MODEL_IGNORE_PATTERNS", ",".join(hub.ignore_patterns))] if hub.ignore_patterns else []
    else:
        bucket, _, endpoint_and_path = source.address.partition(".")
        endpoint, _, path = endpoint_and_path.partition("/")
        pairs = [("MODEL_SOURCE_TYPE", "objstore"), ("PROVIDER", "OSS")]
        pairs += [("ENDPOINT", endpoint), ("BUCKET", bucket), ("MODEL_PATH", path.rstrip("/"))]
    return [{"name": name, "value": value} for name, value in pairs] + _credentials(source)


def loader_variables(source: WeightSource) -> list[str]:
    """Return the names of the variables that a model loader gets; none for a source without a loader."""
    has_loader = source.scheme in ("hub", "oss")
    return [variable["name"] for variable in _loader_env(source)] if has_loader else []


def _merged(base: list[Object], added: list[Object], *, always: bool = True) -> list[Object]:
    """Append variables. A user's value overrides references to Secrets, and everything unless ``always``."""
    # Upstream adds credentials that the user sets once more, which the API server rejects (llmaz spec 2.6).
    forced = set()
    if always:
        forced = {variable["name"] for variable in added if "valueFrom" not in variable}
    users = [variable for variable in base if variable["name"] not in forced]
    names = {variable["name"] for variable in users}
    return users + [variable for variable in added if variable["name"] not in names]


def _from_secret(name: str, secret: str, key: str) -> Object:
    return {"name": name, "valueFrom": {"secretKeyRef": {"name": secret, "key": key, "optional": True}}}


def _add_volume(spec: Object, volume: Object) -> None:
    """Add a volume unless the template has one of that name."""
    _append_by(spec.setdefault("volumes", []), volume, "name")


def _add_mount(container: Object, mount: Object) -> None:
    _append_by(container.setdefault("volumeMounts", []), mount, "mountPath")


def _append_by(objects: list[Any], new: Object, key: str) -> None:
    if all(existing[key] != new[key] for existing in objects):
        objects.append(new)
