"""Whether what a ModelBooster becomes could be refused at all, where no object says it.

A ModelServer and a ModelRoute of a booster hold names, a port and lists of what the booster has: each limit of their
types and rules that it does not keep by itself is asked for here. Where one may be broken, the objects are made, and
refused in the words of their types.
"""

from collections.abc import Sequence

from ....contract.names import is_dns1035_label, is_dns1123_label
from ..types.networking import MAX_ADAPTERS, MAX_MODEL, MAX_PORT, MAX_TARGETS
from .children.command import Commands
from .children.route import adapter_names
from .setup import Part


def is_sound(parts: Sequence[Part], fronts: Sequence[Commands]) -> bool:
    """Tell whether ModelServers and the ModelRoute are good for certain.

    Args:
        parts: The backends.
        fronts: What the pods of each run that take requests.
    """
    return (
        len(parts) <= MAX_TARGETS
        and len(adapter_names(parts)) <= MAX_ADAPTERS
        and is_dns1123_label(parts[0].namespace)
        and is_dns1035_label(parts[0].model)
        and all(map(_is_sound, parts, fronts))
    )


def _is_sound(part: Part, front: Commands) -> bool:
    # A name that is a label has labels for its parts.
    return is_dns1035_label(part.name) and len(front.served) <= MAX_MODEL and 1 <= front.port <= MAX_PORT


def needs_router(parts: Sequence[Part]) -> bool:
    """Tell whether Kthena's router may be needed, which reads the objects: for pairs, and for paths."""
    match = parts[0].booster.spec.model_match
    return (match is not None and match.uri is not None) or any(part.is_disaggregated for part in parts)
