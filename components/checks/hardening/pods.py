"""Pods with as few rights as their images work with, for the Pod Security profiles ``baseline`` and ``restricted``.

What a template says already is kept: its author knows the image. What an image needs, and how that is known, is told
with each engine, and for other images in ``image_users.yaml``.
"""

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

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
    "the user that this image runs as is unknown; if it works, set runAsNonRoot and drop all capabilities in the "
    "template"
)
_HOST_PATH = "the volume is a hostPath, which the profile forbids"


@dataclass(frozen=True, slots=True)
class Exemption:
    """Something of a pod that the profile ``restricted`` refuses, and why it is so.

    Attributes:
        part: Name of the container or volume.
        rule: ``root`` or ``hostPath``.
    """

    part: str
    rule: str
    reason: str


def secure(spec: Object, level: PodSecurity) -> None:
    """Take rights away from a pod spec, which is changed in place; ``level`` is ``baseline`` or ``restricted``."""
    # Engines never call the API server. Credentials of the cloud come through a volume of their own.
    spec.setdefault("automountServiceAccountToken", False)
    context = spec.setdefault("securityContext", {})
    context.setdefault("seccompProfile", {"type": "RuntimeDefault"})
    for container in _containers(spec):
        _forbid_escalation(container)
        if level == PodSecurity.RESTRICTED:
            _run_as_user(container, spec)
    if level == PodSecurity.RESTRICTED:
        _share_volumes(spec)


def exemptions(spec: Object) -> tuple[Exemption, ...]:
    """Return what keeps a hardened pod spec from the profile ``restricted``; nothing where it meets it."""
    volumes = [v["name"] for v in spec.get("volumes", ()) if "hostPath" in v]
    found = [Exemption(name, "hostPath", _HOST_PATH) for name in volumes]
    for container in _containers(spec):
        if not _setting(container, spec, "runAsNonRoot"):
            known = _entry(container.get("image") or "")
            found.append(Exemption(container["name"], "root", known.reason if known else _UNKNOWN))
    return tuple(found)


def image_user(image: str) -> ImageUser | None:
    """Return the user that an image can run as; None for root, and for an image of which nothing is known."""
    known = _entry(image)
    if known is None or known.user is None or not known.span.includes(version_of(parse_image(image).tag)):
        return None
    return known


@functools.cache
def image_users() -> Mapping[str, ImageUser]:
    """Return what is known of images: of those that serve by engine, and of others."""
    others = {name: ImageUser.of(row) for name, row in load_table(__package__, "image_users.yaml").items()}
    known = {engine.name: engine.user for engine in engines().values() if engine.user}
    return MappingProxyType({name: _at_home(user) for name, user in (others | known).items()})


def _at_home(user: ImageUser) -> ImageUser:
    """Put the home of a user where these pods have it."""
    env = {name: text.format(home=HOME) for name, text in user.env.items()}
    return replace(user, env={**({"HOME": HOME} if user.home else {}), **env})


@functools.lru_cache(maxsize=4096)
def _entry(image: str) -> ImageUser | None:
    """Find an image by its repository, in whatever registry or mirror."""
    repository = parse_image(image).repository
    return next((user for user in image_users().values() if is_one_of(repository, user.images)), None)


def _containers(spec: Object) -> Iterator[Object]:
    yield from spec.get("initContainers") or ()
    yield from spec["containers"]


def _setting(container: Object, spec: Object, name: str) -> object:
    """Return a setting of a container, which overrides that of its pod."""
    own = container.get("securityContext") or {}
    return own[name] if name in own else (spec.get("securityContext") or {}).get(name)


def _forbid_escalation(container: Object) -> None:
    """Forbid to gain rights, unless the template asks for what the API server refuses together with that."""
    context = container.setdefault("securityContext", {})
    added = {name.removeprefix("CAP_") for name in (context.get("capabilities") or {}).get("add") or ()}
    if not context.get("privileged") and "SYS_ADMIN" not in added:
        context.setdefault("allowPrivilegeEscalation", False)


def _run_as_user(container: Object, spec: Object) -> None:
    context = container["securityContext"]
    known = image_user(container.get("image") or "")
    chosen = _setting(container, spec, "runAsUser")
    if _setting(container, spec, "runAsNonRoot") is None and (known if chosen is None else chosen):
        context["runAsNonRoot"] = True
    if not _setting(container, spec, "runAsNonRoot"):
        return
    # Root may need a capability to ignore file modes; other users need none, and `restricted` rejects them.
    capabilities = context.get("capabilities") or {}
    if "ALL" not in (capabilities.get("drop") or ()):
        context["capabilities"] = {**capabilities, "drop": ["ALL"]}
    if known and chosen is None:
        context["runAsUser"] = known.user
        if _setting(container, spec, "runAsGroup") is None:
            context["runAsGroup"] = known.group
    if known:
        _give_home(container, spec, known)


def _give_home(container: Object, spec: Object, known: ImageUser) -> None:
    """Give the user a home, and point caches there; a template with a home of its own needs none."""
    env = container.get("env") or []
    there = {variable["name"] for variable in env}
    if known.home and "HOME" in there:
        return
    added = [{"name": name, "value": value} for name, value in known.env.items() if name not in there]
    if added:
        container["env"] = [*env, *added]
    if known.home:
        _add(spec.setdefault("volumes", []), {"name": _HOME_VOLUME, "emptyDir": {}}, "name")
        _add(container.setdefault("volumeMounts", []), {"name": _HOME_VOLUME, "mountPath": HOME}, "mountPath")


def _add(items: list[Object], item: Object, key: str) -> None:
    if all(there[key] != item[key] for there in items):
        items.append(item)


def _share_volumes(spec: Object) -> None:
    """Let users other than root write persistent volumes, which belong to root; others are open to everybody."""
    if not any("persistentVolumeClaim" in volume for volume in spec.get("volumes") or ()):
        return
    groups = [c["securityContext"].get("runAsGroup") for c in _containers(spec)]
    group = next((group for group in groups if group), None)
    if group and "fsGroup" not in spec["securityContext"]:
        # Weights are many and large: their modes are looked at only where the volume's root is wrong.
        spec["securityContext"] |= {"fsGroup": group, "fsGroupChangePolicy": "OnRootMismatch"}
