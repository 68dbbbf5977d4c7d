"""Settings of objects that existed before the stack."""

from typing import Annotated

from pydantic import Field

from components.plan.section import Flag, Section

ADOPTED = r"^([a-z0-9.-]+)/([A-Za-z][A-Za-z0-9]*)/(?:([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)/)?([^/\s]{1,253})$"
"""API group (``core`` for the one without a name), kind, namespace unless the kind has none, and name."""


class AdoptedSettings(Section):
    """Objects that existed before the stack, which imports them instead of creating them."""

    objects: list[Annotated[str, Field(pattern=ADOPTED)]] = Field(default_factory=list)
    """The objects, each as group/Kind/namespace/name, such as apps/Deployment/models/chat; core is the group of
    Services and Namespaces, and objects without a namespace are written as core/Namespace/models."""
    retain: Flag = True
    """Whether the objects stay in the cluster when they leave the stack."""
    omitted: list[Annotated[str, Field(pattern=ADOPTED)]] = Field(default_factory=list)
    """Objects that the stack would create in addition to those, and leaves out: what it adds to the resources of an
    operator, such as a Service for each role, and monitors. Remove a name to create the object."""
