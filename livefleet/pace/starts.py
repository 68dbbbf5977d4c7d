"""How long pods and nodes take to start, as a plan estimates it (``components/plan/review/starts.py``)."""

from components.fleet.objects import Object
from components.plan.review.starts import StartEstimate, start_estimate

from ..fleet import Startup

_USUAL_WEIGHTS = 16 * 2**30
"""Those of a model with 8 billion parameters, where nobody knows the size."""


def startup_of(body: Object, weights: int | None) -> Startup:
    """Return how long a replica of a workload takes: pulling the image belongs to the pod, as nodes are new.

    Args:
        body: The workload.
        weights: Size of the weights in bytes; None where nobody knows it.
    """
    size = _USUAL_WEIGHTS if weights is None else weights
    pod, whole = (_seconds(start_estimate(body, size, new_node=new, new_image=True)) for new in (False, True))
    return Startup(pod=float(pod), node=float(whole - pod))


def _seconds(estimate: StartEstimate) -> int:
    return sum(seconds for _, seconds in estimate.parts)
