"""Order and text of rows, shared by the live view and the log."""

from collections.abc import Sequence

from toolkit.printing import pluralize

from ..control_api import GroupState, LiveState, ModelState


def by_movement(models: Sequence[ModelState]) -> list[ModelState]:
    """Sort models: unavailable or scaling ones first, then those with a queue, then those under load."""
    return sorted(models, key=lambda model: (*_inactivity(model), model.title))


def _inactivity(model: ModelState) -> tuple[bool, bool, bool, int]:
    """Return the sort key of a model: the most active ones come first."""
    is_scaling = bool(model.starting or model.pending or any(scaler.is_scaling for scaler in model.scalers))
    is_unready = model.ready < model.replicas
    return not (is_scaling or is_unready), not model.waiting, not model.running, -(model.waiting + model.running)


def is_active(model: ModelState) -> bool:
    """Tell whether a model has load, a queue, or unready replicas."""
    return _inactivity(model)[:3] != (True, True, True)


def groups_by_movement(groups: Sequence[GroupState]) -> list[GroupState]:
    """Sort node groups: starting ones first, those without nodes last."""
    return sorted(groups, key=lambda group: (not group.starting, not group.nodes, group.name))


def headline(state: LiveState) -> str:
    """Return a summary of the fleet in one line."""
    nodes, starting = sum(group.nodes for group in state.groups), sum(group.starting for group in state.groups)
    ready, replicas = sum(model.ready for model in state.models), sum(model.replicas for model in state.models)
    more = f" (+{starting})" if starting else ""
    return (
        f"simulated: {pluralize(len(state.models), 'model')}, {ready}/{replicas} replicas ready, "
        f"{pluralize(nodes, 'node')}{more}, {usd(state.usd_per_hour)} USD/h"
    )


def speeds(state: LiveState) -> str:
    """Return the speeds in one line."""
    return f"answers {state.speed:g} x real time, starts of nodes and pods {state.start_speed:g} x real time"


def usd(amount: float | None) -> str:
    return "-" if amount is None else f"{amount:,.2f}"


def scaling(model: ModelState) -> str:
    """Return the desired replicas and the bounds of a model's autoscalers."""
    return (
        ", ".join(
            f"{scaler.desired if scaler.has_read_metric else '?'} of {scaler.least}..{scaler.most}"
            for scaler in model.scalers
        )
        or "-"
    )
