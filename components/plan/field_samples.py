"""What a field becomes, by example: the samples of each family set its fields and are explained.

The samples are complete manifests, so that ``workbench explain --field`` needs none of the user's.
"""

import re
from collections.abc import Iterator
from importlib.resources import files
from typing import NamedTuple

from ..contract.kinds import Kind
from ..contract.load import LoadedResource
from ..families import load, member_of
from .explain import ExplainedField, explain
from .plan import plan

_FOLDER = "samples"


class FieldSample(NamedTuple):
    """A resource of a sample that sets a field.

    Attributes:
        resource: The resource.
        rows: What the field, or the fields below it, became.
    """

    resource: LoadedResource
    rows: tuple[ExplainedField, ...]


def field_samples(kind: Kind, path: str) -> Iterator[FieldSample]:
    """Yield the sample resources of a kind that set a field, and what it became in each.

    Args:
        kind: The kind.
        path: Path of the field, as in :class:`..contract.field_reference.FieldReference`.
    """
    family, _ = member_of(kind)
    folder = files(family.package).joinpath(_FOLDER)
    if not folder.is_dir():
        return
    steps = re.escape(path).replace(r"\[\]", r"\[\d+\]").replace(r"\.\*", r"(\.\w+|\[[^]]+\])")
    field = re.compile(rf"{steps}([.\[].*)?")
    for file in sorted(entry.name for entry in folder.iterdir()):
        manifests = load([str(folder.joinpath(file))])
        planned = None
        for resource in manifests.resources:
            if resource.resource.kind == kind.kind:
                planned = planned or plan(manifests)
                rows = explain(resource, manifests.resources, planned, matches=field)
                if rows:
                    yield FieldSample(resource, rows)
