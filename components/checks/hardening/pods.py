"""Restricts pods to the least privileges their images need, for the profiles ``baseline`` and ``restricted``.

Settings in a template are kept: its author knows the image. The requirements of images, with their sources, are in
the data of each engine, and for other images in ``image_users.yaml``.
"""

import functools
from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

from ...contract.tables import load_table
from ...engines.images import is_one_of, parse_image
from ...engines.registry import engines
from ...engines.users import ImageUser
from ...engines.versions import version_of
from ...fleet.objects import Object
from .words import PodSecurity

HOME = "/home/engine"
_HOME_VOLUME = "home"
_UNKNOWN = (
    "the user of this image is unknown; if it runs as non-root, set runAsNonRoot and drop all capabilities in the "
    "template"
)
_HOST_PATH = "the volume is a hostPath, which the profile forbids"


class Exemption(NamedTuple):
    """A violation of the profile ``restricted``, with its reason.

    Attributes:
        part: Name of the container or volume.
        rule: ``root`` or ``hostPath``.
    """

    part: str
    rule: str
    reason: str


def secure(spec: Object, level: PodSecurity) -> None:
    """Harden a pod spec in place, for the profile ``baseline`` or ``restricted``."""
    # Engines never call the API server; cloud credentials come through a separate volume.
    spec.setdefault("automountServiceAccountToken", False)
    context = spec.setdefault("securityContext", {})
    context.setdefault("seccompProfile", {"type": "RuntimeDefault"})
    for container in _containers(spec):
        container_context = container.setdefault("securityContext", {})
        added = {name.removeprefix("CAP_") for name in (container_context.get("capabilities") or {}).get("add") or ()}
        # The API server rejects `false` together with these two.
        if not container_context.get("privileged") and "SYS_ADMIN" not in added:
            container_context.setdefault("allowPrivilegeEscalation", False)
        if level == PodSecurity.RESTRICTED:
            _run_as_user(container, spec)

    # Persistent volumes belong to root, and must be writable for the user; other volumes are world-writable.
    has_claim = any("persistentVolumeClaim" in volume for volume in spec.get("volumes") or ())
    if level == PodSecurity.RESTRICTED and has_claim and "fsGroup" not in context:
        groups = (container["securityContext"].get("runAsGroup") for container in _containers(spec))
        group = next(filter(None, groups), None)
        if group:
            # Changing the group of many large files is slow, so skip it if the root of the volume is right.
            context |= {"fsGroup": group, "fsGroupChangePolicy": "OnRootMismatch"}


def exemptions(spec: Object) -> tuple[Exemption, ...]:
    """Return the violations of the profile ``restricted`` by a hardened pod spec."""
    volumes = [volume["name"] for volume in spec.get("volumes", ()) if "hostPath" in volume]
    violations = [Exemption(name, "hostPath", _HOST_PATH) for name in volumes]
    for container in _containers(spec):
        if not _setting(container, spec, "runAsNonRoot"):
            known = _entry(container.get("image") or "")
            violations.append(Exemption(container["name"], "root", known.reason if known else _UNKNOWN))
    return tuple(violations)


def image_user(image: str) -> ImageUser | None:
    """Return the non-root user that an image can run as; None for root and unknown images."""
    known = _entry(image)
    if known is None or known.user is None or not known.span.includes(version_of(parse_image(image).tag)):
        return None
    return known


@functools.cache
def image_users() -> Mapping[str, ImageUser]:
    """Return the known users of images: by engine for serving images, and others by name."""
    others = {name: ImageUser.of(row) for name, row in load_table(__package__, "image_users.yaml").items()}
    by_engine = {engine.name: engine.user for engine in engines().values() if engine.user}
    users: dict[str, ImageUser] = {}
    for name, user in (others | by_engine).items():
        env = {variable: text.format(home=HOME) for variable, text in user.env.items()}
        users[name] = replace(user, env={**({"HOME": HOME} if user.home else {}), **env})
    return MappingProxyType(users)


@functools.lru_cache(maxsize=4096)
def _entry(image: str) -> ImageUser | None:
    """Find an image by its repository, in any registry or mirror."""
    repository = parse_image(image).repository
    return next((user for user in image_users().values() if is_one_of(repository, user.images)), None)


def _containers(spec: Object) -> Iterator[Object]:
    yield from spec.get("initContainers") or ()
    yield from spec["containers"]


def _setting(container: Object, spec: Object, name: str) -> object:
    """Return a setting of a container, which overrides that of its pod."""
    own = container.get("securityContext") or {}
    return own[name] if name in own else (spec.get("securityContext") or {}).get(name)


def _run_as_user(container: Object, spec: Object) -> None:
    context = container["securityContext"]
    known = image_user(container.get("image") or "")
    user = _setting(container, spec, "runAsUser")
    if _setting(container, spec, "runAsNonRoot") is None and (known if user is None else user):
        context["runAsNonRoot"] = True
    if not _setting(container, spec, "runAsNonRoot"):
        return
    # Only root may need capabilities, to ignore file modes; `restricted` rejects them.
    capabilities = context.get("capabilities") or {}
    if "ALL" not in (capabilities.get("drop") or ()):
        context["capabilities"] = {**capabilities, "drop": ["ALL"]}
    if known and user is None:
        context["runAsUser"] = known.user
        if _setting(container, spec, "runAsGroup") is None:
            context["runAsGroup"] = known.group
    if known:
        _give_home(container, spec, known)


def _give_home(container: Object, spec: Object, known: ImageUser) -> None:
    """Mount a home directory and set its variables, unless the template sets ``HOME``."""
    env = container.get("env") or []
    names = {variable["name"] for variable in env}
    if known.home and "HOME" in names:
        return
    added = [{"name": name, "value": value} for name, value in known.env.items() if name not in names]
    if added:
        container["env"] = [*env, *added]
    if known.home:
        _add(spec.setdefault("volumes", []), {"name": _HOME_VOLUME, "emptyDir": {}}, "name")
        _add(container.setdefault("volumeMounts", []), {"name": _HOME_VOLUME, "mountPath": HOME}, "mountPath")


def _add(items: list[Object], item: Object, key: str) -> None:
    if all(other[key] != item[key] for other in items):
        items.append(item)
