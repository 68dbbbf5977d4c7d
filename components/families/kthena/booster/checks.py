"""What is wrong with a ModelBooster beyond its own rules, before it is expanded."""

import re
from collections.abc import Iterator, Sequence

from ....contract.findings.collector import Findings
from ....contract.findings.ids import RuleId
from ....contract.names import LABEL_LENGTH, is_dns1035_label, is_dns1123_subdomain
from ..types import ModelBooster
from .children.serving import roles_of
from .children.weights import address_of, cache_folder
from .facts import facts
from .setup import Part, RoleOf

_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*\Z", re.ASCII)
_LONGEST_SUFFIX = "-model-downloader"
_S3 = "s3://"
_CLAIM = "pvc://"
_TAKEN = frozenset(
    f"/{name}"
    for name in ("app", "bin", "dev", "etc", "lib", "lib64", "opt", "proc", "root", "run", "sbin", "sys", "usr")
)
"""Folders that an engine, the downloader or every program needs as the image has them."""


def check_booster(booster: ModelBooster, parts: Sequence[Part], findings: Findings) -> None:
    """Report what would make resources that are refused, or pods that cannot work."""
    _check_name(booster, findings)
    if booster.spec.name is not None:
        findings.warn(
            "spec.name", "has no effect: everything is named after metadata.name; remove it", RuleId.FIELD_NO_EFFECT
        )
    if booster.spec.owner is not None:
        findings.warn("spec.owner", "has no effect: nothing reads it; remove it", RuleId.FIELD_NO_EFFECT)
    if not any(part.backend.route_weight for part in parts):
        findings.error(
            "spec.backends[0].routeWeight",
            "must be more than 0 for at least one backend: with 0 for all of them no request has a way",
            RuleId.ACCESS_UNROUTABLE,
        )
    for part in parts:
        _check_backend(part, findings)


def _check_name(booster: ModelBooster, findings: Findings) -> None:
    name, most = booster.metadata.name, LABEL_LENGTH - len(_LONGEST_SUFFIX)
    if len(name) > most:
        reason = f"must be at most {most} characters, because a container is called <name>{_LONGEST_SUFFIX}"
        findings.error("metadata.name", f"{reason}; found {len(name)}", RuleId.NAMES_INVALID)
    elif not is_dns1035_label(name):
        findings.error(
            "metadata.name",
            "must be lower-case letters, digits and inner '-', starting with a letter, because Services are named "
            f"after it; found {name!r}",
            RuleId.NAMES_INVALID,
        )


def _check_backend(part: Part, findings: Findings) -> None:
    backend = part.backend
    if backend.type not in facts().engines:
        findings.error(
            f"{part.path}.type",
            f"{backend.type} is not supported: Kthena's controllers refuse it as well; use "
            f"{', '.join(facts().engines)}, or write a ModelServing with its pods",
        )
        return
    if backend.scale_to_zero_grace_period is not None:
        findings.warn(
            f"{part.path}.scaleToZeroGracePeriod", "has no effect: no autoscaler reads it", RuleId.FIELD_NO_EFFECT
        )
    port = part.place_from_elsewhere("RUNTIME_PORT")
    if port is not None:
        findings.warn(
            f"{part.path}.env[{port}]",
            "RUNTIME_PORT has no effect from elsewhere: the ports of a container are numbers; write value",
            RuleId.FIELD_NO_EFFECT,
        )
    for role in roles_of(part):
        for path, reason in _faults(role):
            findings.error(path, reason)
    _check_cache(part, findings)
    sources = [(f"{part.path}.modelURI", backend.model_uri)]
    sources += [
        (f"{part.path}.loraAdapters[{place}].artifactURL", each.artifact_url)
        for place, each in enumerate(backend.lora_adapters or ())
    ]
    for path, uri in sources:
        _check_source(part, path, uri, findings)


def _faults(role: RoleOf) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with a worker: the field and the reason."""
    if not role.worker.image:
        yield f"{role.path}.image", "is required, because there is no default image; name that of the engine"
    if role.pods < 1:
        yield f"{role.path}.pods", f"must be at least 1, found {role.pods}; remove the worker, or set replicas: 0"
    for key in role.config:
        if not _KEY.match(key):
            yield f"{role.path}.config", f"has the key {key!r}; write a flag without the dashes before it"


def _check_cache(part: Part, findings: Findings) -> None:
    uri, path = part.backend.cache_uri, f"{part.path}.cacheURI"
    if uri is None:
        return
    name = address_of(uri).strip("/")
    folder = cache_folder(uri)
    if uri.startswith(_CLAIM) and not is_dns1123_subdomain(name):
        findings.error(path, f"must be pvc:// and the name of a claim, found {uri!r}", RuleId.WEIGHTS_UNREACHABLE)
    elif folder in _TAKEN:
        findings.error(
            path,
            f"would hide {folder} of the image, found {uri!r}; use a claim or a folder of another name",
            RuleId.WEIGHTS_UNREACHABLE,
        )
    elif folder == "/" or ":" in folder or ".." in folder.split("/"):
        findings.error(path, f"must be a folder without ':' and '..', found {uri!r}", RuleId.WEIGHTS_UNREACHABLE)


def _check_source(part: Part, path: str, uri: str, findings: Findings) -> None:
    """Report a source that the downloader could not read, and leave an empty folder behind."""
    if uri.startswith(_CLAIM):
        folder, place = cache_folder(part.backend.cache_uri), f"/{address_of(uri).strip('/')}"
        if not f"{place}/".startswith(f"{folder}/"):
            claim = place.split("/")[1]
            findings.error(
                path,
                f"is copied from the folder {place}, but pods have only {folder}; set cacheURI: pvc://{claim}, or "
                "name a folder of the cache",
                RuleId.WEIGHTS_UNREACHABLE,
            )
    if uri.startswith(_S3) and not part.backend.env_from:
        named = {each["name"] for each in part.env}
        lacking = [name for name in facts().s3_keys if name not in named]
        if lacking:
            findings.error(
                path,
                f"needs {' and '.join(lacking)}, without which nothing is fetched and the engine finds an empty "
                f"folder; name their Secret in {part.path}.envFrom",
                RuleId.WEIGHTS_UNREACHABLE,
            )
