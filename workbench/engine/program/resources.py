"""Registered resources as plain data, with URNs and aliases."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

STACK_TYPE = "pulumi:pulumi:Stack"
PROVIDERS = "pulumi:providers:"
KUBERNETES = "kubernetes"
CHARTS = "kubernetes:helm.sh/"
"""Prefix of Helm resources, whose objects the local engine cannot create."""
KUBERNETES_PROVIDER = PROVIDERS + KUBERNETES


@dataclass(frozen=True, slots=True)
class Alias:
    """A former identity: a full URN, or the parts that differ from the current one."""

    urn: str = ""
    name: str = ""
    type: str = ""
    stack: str = ""
    project: str = ""
    parent: str = ""
    no_parent: bool = False


@dataclass(frozen=True, slots=True)
class Registration:
    """A resource registration of the program."""

    type: str
    name: str
    parent: str = ""
    custom: bool = True
    remote: bool = False
    inputs: Mapping[str, Any] = field(default_factory=dict)
    provider: str = ""
    """URN of the provider resource; empty if the program sets none."""
    dependencies: tuple[str, ...] = ()
    property_dependencies: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """URNs that each input depends on; inputs without dependencies are left out."""
    protect: bool | None = None
    retain_on_delete: bool | None = None
    ignore_changes: tuple[str, ...] = ()
    replace_on_changes: tuple[str, ...] = ()
    secret_outputs: tuple[str, ...] = ()
    aliases: tuple[Alias, ...] = ()
    delete_before_replace: bool | None = None
    """Whether a replacement deletes the old object first even if both could coexist."""
    deleted_with: str = ""
    replaced_with: tuple[str, ...] = ()
    """URNs of resources whose replacement also replaces this one."""
    import_id: str = ""
    is_read: bool = False
    """Whether the program only reads the resource."""
    timeouts: Mapping[str, str] = field(default_factory=dict)

    @property
    def package(self) -> str:
        """The package of the type token."""
        return self.type.split(":", 1)[0]

    @property
    def is_provider(self) -> bool:
        """Whether this is a provider."""
        return self.type.startswith(PROVIDERS)

    @property
    def is_object(self) -> bool:
        """Whether this is a Kubernetes object; a Helm release is several objects."""
        return self.custom and self.package == KUBERNETES and not self.type.startswith(CHARTS)


def make_urn(stack: str, project: str, parent: str, type_: str, name: str) -> str:
    """Return the URN as the Pulumi engine builds it, with the types of all parents except the stack."""
    parent_type = urn_type(parent) if parent else ""
    qualified = type_ if parent_type in ("", STACK_TYPE) else f"{parent_type}${type_}"
    return f"urn:pulumi:{stack}::{project}::{qualified}::{name}"


def urn_type(urn: str) -> str:
    """Return the qualified type inside a URN."""
    return urn.split("::", 3)[2]


def urn_name(urn: str) -> str:
    """Return the name inside a URN (it may contain ``::``)."""
    return urn.split("::", 3)[3]


def provider_urn(reference: str) -> str:
    """Return the URN of a provider reference, which is ``urn::id``."""
    return reference.rsplit("::", 1)[0] if reference else ""


def former_urns(
    registration: Registration, stack: str, project: str, parent_aliases: Iterable[str], parent_name: str
) -> tuple[str, ...]:
    """Return the URNs that a resource may have had before it was renamed or moved.

    Children inherit the aliases of their parent. As in the Pulumi engine, a child whose name starts with the parent's
    name is looked up with the parent's old name.
    """
    former_parents = tuple(parent_aliases)
    urns: dict[str, None] = {}  # an ordered set
    for alias in registration.aliases:
        if alias.urn:
            urns[alias.urn] = None
            continue
        type_ = alias.type or registration.type
        parent = "" if alias.no_parent else alias.parent or registration.parent
        name = alias.name or registration.name
        urns[make_urn(alias.stack or stack, alias.project or project, parent, type_, name)] = None
        if not (alias.parent or alias.no_parent):
            for former in former_parents:
                name = alias.name or _inherited_name(registration.name, parent_name, urn_name(former))
                urns[make_urn(stack, project, former, type_, name)] = None
    for former in former_parents:
        name = _inherited_name(registration.name, parent_name, urn_name(former))
        urns[make_urn(stack, project, former, registration.type, name)] = None
    return tuple(urns)


def _inherited_name(name: str, parent: str, old_parent: str) -> str:
    return old_parent + name[len(parent) :] if name.startswith(parent) else name
