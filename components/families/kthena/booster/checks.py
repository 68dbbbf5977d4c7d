"""Checks of a ModelBooster before it is expanded, beyond the rules of its types."""

import re
from collections.abc import Sequence

from ....contract.findings.collector import Findings
from ....contract.findings.ids import RuleId
from ....contract.names import LABEL_LENGTH, is_dns1035_label, is_dns1123_subdomain
from ..names import VOLCANO
from ..routing.rules import check_patterns
from .context import BackendContext
from .facts import facts
from .weights import cache_folder, path_of

_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*\Z", re.ASCII)
_LONGEST_SUFFIX = "-model-downloader"
_SYSTEM_FOLDERS = frozenset(
    f"/{name}"
    for name in ("app", "bin", "dev", "etc", "lib", "lib64", "opt", "proc", "root", "run", "sbin", "sys", "usr")
)
"""Folders that an engine, the downloader or every program needs from its image."""


def check_booster(backends: Sequence[BackendContext], findings: Findings) -> None:
    """Report settings that would result in invalid resources or broken pods, or have no effect."""
    booster = backends[0].booster
    name, maximum = booster.metadata.name, LABEL_LENGTH - len(_LONGEST_SUFFIX)
    if len(name) > maximum:
        reason = f"must be at most {maximum} characters, because a container is named <name>{_LONGEST_SUFFIX}"
        findings.error("metadata.name", f"{reason}; found {len(name)}", RuleId.NAMES_INVALID)
    elif not is_dns1035_label(name):
        reason = (
            "must be lower-case letters, digits and inner '-', starting with a letter, because Services are named "
            f"after it; found {name!r}"
        )
        findings.error("metadata.name", reason, RuleId.NAMES_INVALID)
    if booster.spec.name is not None:
        reason = "has no effect: everything is named after metadata.name; remove it"
        findings.warn("spec.name", reason, RuleId.FIELD_NO_EFFECT)
    if booster.spec.owner is not None:
        findings.warn("spec.owner", "has no effect: nothing reads it; remove it", RuleId.FIELD_NO_EFFECT)
    if not any(backend.spec.route_weight for backend in backends):
        reason = "must be above 0 for at least one backend, or no backend gets requests"
        findings.error(f"{backends[0].path}.routeWeight", reason, RuleId.ACCESS_UNROUTABLE)
    check_patterns(booster.spec.model_match, "spec.modelMatch", findings)
    for backend in backends:
        _check_backend(backend, findings)


def check_scheduled_together(backends: Sequence[BackendContext], findings: Findings) -> None:
    """Warn about replicas of several pods that should be scheduled together, which natively they are not.

    Those of pairs are: their roles are workloads of their own, so that each replica has a PodGroup.
    """
    for backend in backends:
        pods = sum(
            role.pods * (1 if role.worker.replicas is None else role.worker.replicas) for role in backend.roles
        )
        if backend.spec.scheduler_name == VOLCANO and pods > 1 and not backend.is_disaggregated:
            findings.warn(
                f"{backend.path}.schedulerName",
                f"is {VOLCANO}, with which Kthena schedules the {pods} pods of a replica together; natively they are "
                "scheduled one by one, and hold GPUs while others are Pending; write a ModelServing with gangPolicy, "
                "or use realization 'operator'",
                RuleId.NATIVE_DIFFERS,
            )


def _check_backend(backend: BackendContext, findings: Findings) -> None:
    spec, path = backend.spec, backend.path
    if spec.type not in facts().engines:
        reason = (
            f"{spec.type} is not supported, and Kthena's controllers reject it as well; use "
            f"{', '.join(facts().engines)}, or write a ModelServing with its pods"
        )
        findings.error(f"{path}.type", reason)
        return
    if spec.scale_to_zero_grace_period is not None:
        reason = "has no effect: no autoscaler reads it"
        findings.warn(f"{path}.scaleToZeroGracePeriod", reason, RuleId.FIELD_NO_EFFECT)
    port = backend.value_from_index("RUNTIME_PORT")
    if port is not None:
        reason = "RUNTIME_PORT has no effect with valueFrom, because container ports are numbers; set value"
        findings.warn(f"{path}.env[{port}]", reason, RuleId.FIELD_NO_EFFECT)
    for role in backend.roles:
        if not role.worker.image:
            findings.error(f"{role.path}.image", "is required, because there is no default; set that of the engine")
        if role.pods < 1:
            reason = f"must be at least 1, found {role.pods}; remove the worker, or set replicas: 0"
            findings.error(f"{role.path}.pods", reason)
        for key in role.config:
            if not _KEY.match(key):
                findings.error(f"{role.path}.config", f"has the key {key!r}; write a flag without leading dashes")
    if spec.cache_uri is not None:
        uri, folder, reason = spec.cache_uri, cache_folder(spec.cache_uri), ""
        if uri.startswith("pvc://") and not is_dns1123_subdomain(path_of(uri).strip("/")):
            reason = f"must be pvc:// and the name of a claim, found {uri!r}"
        elif folder in _SYSTEM_FOLDERS:
            reason = f"would hide {folder} of the image, found {uri!r}; use a claim or a folder of another name"
        elif folder == "/" or ":" in folder or ".." in folder.split("/"):
            reason = f"must be a folder without ':' and '..', found {uri!r}"
        if reason:
            findings.error(f"{path}.cacheURI", reason, RuleId.WEIGHTS_UNREACHABLE)
    _check_source(backend, f"{path}.modelURI", spec.model_uri, findings)
    for index, adapter in enumerate(spec.lora_adapters or ()):
        _check_source(backend, f"{path}.loraAdapters[{index}].artifactURL", adapter.artifact_url, findings)


def _check_source(backend: BackendContext, path: str, uri: str, findings: Findings) -> None:
    """Reject sources that the downloader cannot read: it would leave an empty folder."""
    if uri.startswith("pvc://"):
        cache, source = cache_folder(backend.spec.cache_uri), f"/{path_of(uri).strip('/')}"
        if ".." in source.split("/"):
            # The webhook of the main branch refuses it too (validatePVCURICompatibility at 3cc05728).
            findings.error(path, f"must be a folder without '..', found {uri!r}", RuleId.WEIGHTS_UNREACHABLE)
        elif not f"{source}/".startswith(f"{cache}/"):
            claim = source.split("/")[1]
            reason = (
                f"is copied from the folder {source}, but pods only have {cache}; set cacheURI: pvc://{claim}, or "
                "use a folder of the cache"
            )
            findings.error(path, reason, RuleId.WEIGHTS_UNREACHABLE)
    if uri.startswith("s3://") and not backend.spec.env_from:
        names = {variable["name"] for variable in backend.env}
        missing = [name for name in facts().s3_keys if name not in names]
        if missing:
            reason = (
                f"needs {' and '.join(missing)}: without them, nothing is downloaded, and the engine finds an empty "
                f"folder; add their Secret to {backend.path}.envFrom"
            )
            findings.error(path, reason, RuleId.WEIGHTS_UNREACHABLE)
