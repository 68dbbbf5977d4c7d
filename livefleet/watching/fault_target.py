"""Default target of a fault: the one with the most requests, where the effect is most visible."""

from collections import defaultdict
from collections.abc import Sequence

from toolkit.errors import UserError

from ..control_api import LiveFault, LiveState, PodState
from ..control_client import available


def default_target(state: LiveState, fault: LiveFault, model: str) -> str:
    """Return the name of the pod, node or zone with the most requests.

    Args:
        state: The fleet.
        fault: Kind of fault.
        model: Restricts the choice to the pods of a model; empty for any.

    Raises:
        UserError: there is no candidate.
    """
    pods = [pod for pod in _pods_of(state, model) if pod.node and (pod.spot or fault is not LiveFault.SPOT)]
    places = {
        LiveFault.NODE: lambda pod: pod.node,
        LiveFault.SPOT: lambda pod: pod.node,
        LiveFault.POD: lambda pod: pod.name,
        LiveFault.ZONE: lambda pod: pod.zone,
    }
    found: dict[str, list[PodState]] = defaultdict(list)
    for pod in pods:
        found[places[fault](pod)].append(pod)
    found.pop("", None)
    if not found:
        raise UserError(_nothing(fault, model))

    def importance(name: str) -> tuple[int, int]:
        requests = sum(pod.waiting + pod.running for pod in found[name])
        return requests, sum(pod.ready for pod in found[name])

    return max(sorted(found), key=importance)


def _pods_of(state: LiveState, model: str) -> Sequence[PodState]:
    if not model:
        return state.pods
    titles = {each.title for each in state.models if model in (each.title, each.model)}
    if not titles:
        there = available(sorted(each.title for each in state.models))
        raise UserError(f"--model: the live fleet has no model {model!r}{there}", 2)
    return [pod for pod in state.pods if pod.title in titles]


def _nothing(fault: LiveFault, model: str) -> str:
    whose = f"pod of {model}" if model else "pod"
    return {
        LiveFault.NODE: f"no {whose} is on a node",
        LiveFault.POD: f"no {whose} is on a node",
        LiveFault.SPOT: f"no {whose} is on a spot node; `workbench fault node` takes any node away at once",
        LiveFault.ZONE: f"no {whose} is in a zone; the nodes of this stack have none",
    }[fault]
