"""Default target of a fault: the one with the most requests, where the effect is most visible."""

from collections import defaultdict

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
    titles = {served.title for served in state.models if not model or model in (served.title, served.model)}
    if model and not titles:
        names = available(sorted(served.title for served in state.models))
        raise UserError(f"--model: the live fleet has no model {model!r}{names}", 2)
    candidates: dict[str, list[PodState]] = defaultdict(list)
    for pod in state.pods:
        is_candidate = pod.node and (pod.spot or fault is not LiveFault.SPOT)
        if is_candidate and (not model or pod.title in titles):
            targets = {LiveFault.POD: pod.name, LiveFault.ZONE: pod.zone}
            candidates[targets.get(fault, pod.node)].append(pod)
    candidates.pop("", None)
    if not candidates:
        pods = f"pod of {model}" if model else "pod"
        raise UserError(
            {
                LiveFault.NODE: f"no {pods} is on a node",
                LiveFault.POD: f"no {pods} is on a node",
                LiveFault.SPOT: f"no {pods} is on a spot node; `workbench live fault node` removes any node at once",
                LiveFault.ZONE: f"no {pods} is in a zone; the nodes of this stack have none",
            }[fault]
        )

    def importance(name: str) -> tuple[int, int]:
        requests = sum(pod.waiting + pod.running for pod in candidates[name])
        return requests, sum(pod.ready for pod in candidates[name])

    return max(sorted(candidates), key=importance)
