"""The components that other Pulumi languages see: all that are offered here, and one per kind of every family."""

import importlib

import pulumi

from . import COMPONENTS
from .families import FAMILIES

NAME = "inference-platform"


def components() -> list[type[pulumi.ComponentResource]]:
    """Return every public component."""
    own = [getattr(importlib.import_module(f"{__package__}.{home}"), name) for name, home in COMPONENTS.items()]
    of_families = [f.component(member) for f in FAMILIES for member in f.members if member.component]
    return [*own, *of_families]
