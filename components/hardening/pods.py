"""Pods with as few rights as their images work with, for the Pod Security profiles ``baseline`` and ``restricted``.

What a template says already is kept: its author knows the image. What an image needs, and how that is known, stands
in ``catalog/image_users.yaml``.
"""

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from ..api.tables import table
from ..engines.images import image_of
from ..engines.registry import reaches
from ..fleet.objects import Object
from .words import PodSecurity

HOME = "/home/engine"
_HOME_VOLUME = "home"
_UNKNOWN = (
    "the user that this image runs as is unknown; if it works, set runAsNonRoot and drop all capabilities in the "
    "template"
)
_HOST_PATH = "the volume is a hostPath, which the profile forbids"


@dataclass(frozen=True, slots=True)
class ImageUser:
    """As which user an image runs.

    Attributes:
        user: None for root.
        below: First version that does not run as that user; None where every one does.
        home: Whether a writable home must be there.
        env: Variables to set, unless the template has them.
    """

    images: tuple[str, ...]
    reason: str
    user: int | None = None
    group: int | None = None
    below: tuple[int, ...] | None = None
    home: bool = False
    env: Mapping[str, str] = field(default_factory=dict)


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
            known = _entry(container["image"])
            found.append(Exemption(container["name"], "root", known.reason if known else _UNKNOWN))
    return tuple(found)


def image_user(image: str) -> ImageUser | None:
    """Return the user that an image can run as; None for root, and for an image of which nothing is known."""
    known = _entry(image)
    if known is None or known.user is None or reaches(image_of(image).tag, known.below):
        return None
    return known


@functools.cache
def image_users() -> Mapping[str, ImageUser]:
    """Return what is known of images, by engine."""
    rows = table(__package__, "image_users.yaml")
    return MappingProxyType({name: _image_user(facts) for name, facts in rows.items()})


def _image_user(facts: Object) -> ImageUser:
    env = {key: text.format(home=HOME) for key, text in facts.get("env", {}).items()}
    below = tuple(facts["below"]) if "below" in facts else None
    return ImageUser(
        images=tuple(facts["images"]),
        reason=facts["reason"],
        user=facts.get("user"),
        group=facts.get("group"),
        below=below,
        home=facts.get("home", False),
        env={**({"HOME": HOME} if facts.get("home") else {}), **env},
    )


def _entry(image: str) -> ImageUser | None:
    """Find an image by its repository, in whatever registry or mirror."""
    repository = image_of(image).repository
    known = image_users().values()
    return next((e for e in known if any(f"/{repository}".endswith(f"/{name}") for name in e.images)), None)


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
    known = image_user(container["image"])
    chosen = _setting(container, spec, "runAsUser")
    if _setting(container, spec, "runAsNonRoot") is None and (known if chosen is None else chosen):
        context["runAsNonRoot"] = True
    if not _setting(container, spec, "runAsNonRoot"):
        return
    # Root may need the right to ignore file modes; nobody else has use for any.
    context.setdefault("capabilities", {"drop": ["ALL"]})
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
