"""The rules that findings are of: by their ids reports name them, and annotations ignore them.

Everything else about a rule (what it means, how bad it is, where the documentation has it) is in ``findings``.
"""

from enum import StrEnum


class RuleId(StrEnum):
    """The id of a rule. Ids are for life: annotations in other people's manifests have them."""

    CONTRACT = "contract"
    """What the API of a resource refuses."""
    MEMORY_EXCEEDED = "memory-exceeded"
    MEMORY_TIGHT = "memory-tight"
    MEMORY_UNKNOWN = "memory-unknown"
    COST_UNKNOWN = "cost-unknown"
