"""Order and text of rows, shared by the live view and the log."""

from collections.abc import Sequence

from toolkit.printing import pluralize

from ..control_api import GroupState, LiveState, ModelState


def by_movement(models: Sequence[ModelState]) -> list[ModelState]:
    """Sort models: unavailable or scaling ones first, then those with a queue, then those under load."""
    return sorted(models, key=lambda each: (*_stillness(each), each.title))


def _stillness(model: ModelState) -> tuple[bool, bool, bool, int]:
    changing = bool(model.starting or model.pending or any(each.moves for each in model.scalers))
    short = model.ready < model.replicas
    return not (changing or short), not model.waiting, not model.running, -(model.waiting + model.running)


def is_moving(model: ModelState) -> bool:
    """Tell whether a model has load, a queue, or unready replicas."""
    return _stillness(model)[:3] != (True, True, True)


def groups_by_movement(groups: Sequence[GroupState]) -> list[GroupState]:
    """Sort node groups: starting ones first, those without nodes last."""
    return sorted(groups, key=lambda each: (not each.starting, not each.nodes, each.name))


def headline(state: LiveState) -> str:
    """Return a summary of the fleet in one line."""
    nodes, starting = sum(each.nodes for each in state.groups), sum(each.starting for each in state.groups)
    ready, replicas = sum(each.ready for each in state.models), sum(each.replicas for each in state.models)
    more = f" (+{starting})" if starting else ""
    return (
        f"simulated: {pluralize(len(state.models), 'model')}, {ready}/{replicas} replicas ready, "
        f"{pluralize(nodes, 'node')}{more}, {usd(state.usd_per_hour)} USD/h"
    )


def speeds(state: LiveState) -> str:
    """Return the speeds in one line."""
    return f"answers {state.speed:g} x as fast as in life, nodes and pods start {state.start_speed:g} x as fast"


def usd(amount: float | None) -> str:
    return "-" if amount is None else f"{amount:,.2f}"


def wish(model: ModelState) -> str:
    """Return the desired replicas and the bounds of a model's autoscalers."""
    wishes = [(each.desired if each.has_wish else "?", each.least, each.most) for each in model.scalers]
    return ", ".join(f"{desired} of {least}..{most}" for desired, least, most in wishes) or "-"
