"""Finds images that have no code for a GPU, and models that they do not compute there (``images`` of a table)."""

from collections.abc import Container
from decimal import Decimal
from typing import NamedTuple

from ..settings import Setting
from ..versions import ANY, engine_title
from .faults import AUTO
from .rows import FormatTable, format_table, is_known


class ImageFault(NamedTuple):
    """Why a server does not start from its image.

    Attributes:
        reason: The cause.
        tag: A tag of the image with which it starts; empty without one.
        setting: The setting at fault; None if it is the image.
        value: Value of that setting with which the server starts.
    """

    reason: str
    tag: str = ""
    setting: Setting | None = None
    value: str = ""


def image_fault(engine: str, tag: str, capability: Decimal) -> ImageFault | None:
    """Return why an image does not start on a GPU; None if it does, or if that is not known."""
    table = format_table(engine)
    if table is None or not table.images:
        return None
    hardware, version = table.engine.edition(tag), table.engine.version(tag)
    own = [row for row in table.images if row.hardware == hardware]
    if not own or version == ANY:
        return None
    if any(row.span.includes(version) and row.least <= capability < row.below for row in own):
        return None
    reason = f"the image of {engine_title(engine, tag)} has no code for GPUs of compute capability {capability}"
    return ImageFault(f"{reason}, so that the server does not start", tag=image_for(table, tag, capability))


def image_for(table: FormatTable, tag: str, capability: Decimal) -> str:
    """Return the tag of the image for a GPU: of the same release, or of the first one that has it; else empty."""
    hardware, version = table.engine.edition(tag), table.engine.version(tag)
    able = [row for row in table.images if row.least <= capability < row.below]
    # The one that is made for the GPU computes faster than one for older GPUs, or for several.
    able.sort(key=lambda row: (row.span.includes(version), row.least, row.least - row.below), reverse=True)
    if not able:
        return ""
    best, rest = able[0], tag.removeprefix(f"{hardware}-")
    if not best.span.includes(version) and best.span.since is not None:
        rest = table.engine.release(best.span.since)
    return "-".join(filter(None, (best.hardware, rest)))


def computes_on_cpu(engine: str, tag: str) -> bool:
    """Return whether an image uses no accelerators."""
    table = format_table(engine)
    return table is not None and bool(table.processors) and table.engine.edition(tag) in table.processors


def type_fault(engine: str, tag: str, dtype: str) -> ImageFault | None:
    """Return why an image does not know a type of computation; None if it does."""
    table = format_table(engine)
    images = table.number_types.get(dtype) if table else None
    if table is None or images is None or table.engine.version(tag) == ANY or table.engine.edition(tag) in images:
        return None
    flag = table.engine.flag(Setting.DTYPE)
    reason = f"the image of {engine_title(engine, tag)} does not know {flag} {dtype}, and does not start with it"
    return ImageFault(reason, setting=Setting.DTYPE)


def architecture_fault(
    engine: str, tag: str, architecture: str, dtype: str, capability: Decimal, variables: Container[str]
) -> ImageFault | None:
    """Return why an image does not run a model on a GPU; None if it does, or if that is not known.

    Args:
        engine: Name of the engine.
        tag: Its version tag.
        architecture: Architecture of the model.
        dtype: Value of the flag for the type of computation; empty if it is not set.
        capability: Compute capability of the GPU.
        variables: Names of the environment variables of the container.
    """
    table = format_table(engine)
    if table is None or table.engine.edition(tag) not in {row.hardware for row in table.images}:
        return None
    title = engine_title(engine, tag)
    for rule in table.architectures:
        if architecture not in rule.names or rule.unless in variables:
            continue
        if not is_known(rule.span, table.engine.version(tag)):
            continue
        if capability < rule.least:
            cause = f"{title} computes {architecture} from compute capability {rule.least} on"
            return ImageFault(f"{cause}, and this GPU has {capability}, so that it does not start")
        if rule.dtypes and dtype not in (*AUTO, *rule.dtypes):
            cause = f"{title} computes {architecture} only in {' or '.join(rule.dtypes)}, found {dtype}"
            return ImageFault(f"{cause}, so that it does not start", setting=Setting.DTYPE, value=rule.dtypes[0])
    return None
