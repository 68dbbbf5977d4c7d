"""The resource graph of a program, and the registrations that the local engine rejects."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pulumi

from components.contract.texts.secrets import replace_in_object

from ..values import Secret, has_unknown, reveal, with_secrets
from .adapter import Answer
from .resources import (
    CHARTS,
    KUBERNETES,
    KUBERNETES_PROVIDER,
    STACK_TYPE,
    Registration,
    former_urns,
    make_urn,
    urn_name,
)

Existing = Mapping[tuple[str, str], Mapping[str, Any]]
"""Known outputs of resources that exist elsewhere, by type and id."""
_SECRET_FIELDS = ("data", "stringData")
_IDENTITY = ("apiVersion", "kind", "metadata")
PLANNED_ONLY = "planned only"
"""Prefix of the reason for resources that the local engine cannot create."""


@dataclass(frozen=True, slots=True)
class Node:
    """A resource of the program."""

    urn: str
    registration: Registration
    inputs: Mapping[str, Any]
    """Inputs; the data of Secrets is marked as secret even if the program did not."""
    former: tuple[str, ...]
    protect: bool
    retain: bool
    pending: str = ""
    """Why the local engine cannot deploy it; empty if it can."""


@dataclass(slots=True)
class ResourceGraph:
    """All resources of a program in order of registration, so that dependencies come first."""

    stack: str
    project: str
    nodes: dict[str, Node] = field(default_factory=dict)
    exports: dict[str, Any] = field(default_factory=dict)
    disabled: frozenset[str] = frozenset()
    """Packages whose default providers are disabled (config pulumi:disable-default-providers)."""
    preview: bool = False
    """Whether the run is a preview, which accepts resources that exist elsewhere."""
    secrets: frozenset[str] = field(default=frozenset(), repr=False)
    """Decrypted secrets of the configuration, which are marked as secret in all inputs."""
    existing: Existing = field(default_factory=dict)

    @property
    def root(self) -> str:
        """The URN of the stack."""
        return make_urn(self.stack, self.project, "", STACK_TYPE, f"{self.project}-{self.stack}")

    # Responses to the program

    def register(self, registration: Registration) -> Answer:
        """Add a resource.

        Raises:
            pulumi.RunError: duplicate, remote component, default provider, or an object without a name.
        """
        if registration.type == STACK_TYPE:
            return Answer(self.root)
        node = self._node(registration)
        if node.urn in self.nodes:
            raise pulumi.RunError(
                f"duplicate resource URN {node.urn}; give one of the two {registration.type} another name"
            )
        self._reject_unsupported(registration)
        self.nodes[node.urn] = node
        if not registration.custom:
            return Answer(node.urn)
        if registration.is_provider:
            return Answer(node.urn, id=registration.name)
        if registration.is_object:
            return Answer(node.urn, id="" if node.pending else object_id(node.inputs), unknown=True)
        return Answer(node.urn, unknown=True)

    def read(self, registration: Registration, id_: str) -> Answer:
        """Accept a resource that exists elsewhere if its outputs are known, or in a preview, where they stay unknown.

        Raises:
            pulumi.RunError: the outputs are unknown, and the run is no preview, or the resource is a Kubernetes
                object.
        """
        known = self.existing.get((registration.type, id_))
        if known is not None:
            # Not a resource of the stack: nothing is planned for it, and nothing waits for it.
            return Answer(self._node(registration).urn, outputs=known)
        if self.preview and not registration.is_object:
            node = replace(self._node(registration), pending=f"already exists ({id_})")
            self.nodes[node.urn] = node
            return Answer(node.urn, unknown=True)
        raise pulumi.RunError(
            f"{registration.type} {registration.name!r} reads an existing resource ({id_}), but the local engine "
            "knows only what it deployed. Deploy this stack with the Pulumi CLI (--engine pulumi)."
        )

    def invoke(self, token: str) -> None:
        """Reject a provider function."""
        raise pulumi.RunError(
            f"the program calls the provider function {token}, but the local engine runs no providers. Deploy this "
            "stack with the Pulumi CLI (--engine pulumi)."
        )

    # Implementation

    def _node(self, registration: Registration) -> Node:
        parent = self.nodes.get(registration.parent)
        urn = make_urn(self.stack, self.project, registration.parent, registration.type, registration.name)
        former = former_urns(
            registration,
            self.stack,
            self.project,
            parent.former if parent else (),
            urn_name(parent.urn) if parent else "",
        )
        protect, retain = registration.protect, registration.retain_on_delete
        return Node(
            urn=urn,
            registration=registration,
            inputs=_with_marked_secrets(registration, self.secrets),
            former=tuple(old for old in former if old != urn),
            protect=bool(parent and parent.protect) if protect is None else protect,
            retain=bool(parent and parent.retain) if retain is None else retain,
            pending=self._pending_reason(registration),
        )

    def _pending_reason(self, registration: Registration) -> str:
        """Return why the local engine cannot deploy a resource; empty if it can."""
        if not registration.custom:
            return ""
        if registration.type.startswith(CHARTS):
            return f"{PLANNED_ONLY}: the local engine does not install charts"
        if registration.type != KUBERNETES_PROVIDER and registration.package != KUBERNETES:
            return f"{PLANNED_ONLY}: the local engine has no provider for it"
        for urn in (registration.provider, *registration.dependencies):
            node = self.nodes.get(urn)
            if node and node.pending:
                return f"waits for {urn_name(urn)} ({node.registration.type})"
        return "waits for values that are not yet known" if has_unknown(registration.inputs) else ""

    def _reject_unsupported(self, registration: Registration) -> None:
        resource = f"{registration.type} {registration.name!r}"
        if registration.remote:
            raise pulumi.RunError(
                f"{resource} is a remote component, whose children are created by a provider plugin; the local "
                "engine does not run plugins. Use plain resources instead, or the Pulumi CLI (--engine pulumi)."
            )
        # Resources of other providers are planned only; the import is left to the Pulumi CLI like their creation.
        has_provider = registration.package == KUBERNETES or registration.is_provider
        if registration.import_id and has_provider and not registration.is_object:
            raise pulumi.RunError(
                f"{resource} imports {registration.import_id!r}, which only the Pulumi CLI (--engine pulumi) can do."
            )
        if not registration.custom or registration.is_provider:
            return
        package = registration.package
        default_disabled = package == KUBERNETES or package in self.disabled or "*" in self.disabled
        if not registration.provider and default_disabled:
            raise pulumi.RunError(
                f"{resource} has no explicit provider, and default providers are disabled; pass "
                "opts=ResourceOptions(provider=...) to it or to a parent."
            )
        if registration.is_object:
            meta = reveal(registration.inputs.get("metadata"))
            for path, value in (
                ("apiVersion", registration.inputs.get("apiVersion")),
                ("kind", registration.inputs.get("kind")),
                ("metadata.name", meta.get("name") if isinstance(meta, dict) else None),
            ):
                if not value:
                    raise pulumi.RunError(
                        f"{resource} has no {path}. The local engine does not generate names; set one."
                    )
            own = object_id(registration.inputs)
            if registration.import_id not in ("", own):
                raise pulumi.RunError(
                    f"{resource} imports {registration.import_id!r}, but declares {own!r}; "
                    "import an object under its own name and namespace"
                )


def _with_marked_secrets(registration: Registration, known: frozenset[str]) -> Mapping[str, Any]:
    """Mark the content of a Kubernetes Secret, as the Kubernetes provider does, and values that look like secrets."""
    inputs = registration.inputs
    if not registration.is_object:
        return inputs
    content = {}
    if inputs.get("kind") == "Secret":
        content = {key: Secret(reveal(inputs[key])) for key in _SECRET_FIELDS if key in inputs}
    rest = {key: value for key, value in inputs.items() if key not in content}
    marked = replace_in_object(rest, lambda secret, _: Secret(secret))
    if known:
        marked |= {key: with_secrets(value, known) for key, value in marked.items() if key not in _IDENTITY}
    return {**inputs, **marked, **content}


def object_id(inputs: Mapping[str, Any]) -> str:
    """Return the id of an object in the Kubernetes provider: ``namespace/name``, or ``name``."""
    meta = reveal(inputs["metadata"])
    name, namespace = meta["name"], meta.get("namespace")
    return f"{namespace}/{name}" if namespace else f"{name}"
