"""What moves in a fleet: it comes first where there is no room for everything."""

from collections.abc import Sequence

from toolkit.printing import pluralize

from ..control_api import GroupState, LiveState, ModelState


def by_movement(models: Sequence[ModelState]) -> list[ModelState]:
    """Return models, those that need a look first: without an answer, on the way, with a queue, with load."""
    return sorted(models, key=lambda each: (*_stillness(each), each.title))


def _stillness(model: ModelState) -> tuple[bool, bool, bool, int]:
    changing = bool(model.starting or model.pending or any(each.moves for each in model.scalers))
    short = model.ready < model.replicas
    return not (changing or short), not model.waiting, not model.running, -(model.waiting + model.running)


def is_moving(model: ModelState) -> bool:
    """Tell whether there is anything to say of a model: load, a queue, or replicas that are not ready."""
    return _stillness(model)[:3] != (True, True, True)


def groups_by_movement(groups: Sequence[GroupState]) -> list[GroupState]:
    """Return groups of nodes, those that grow first, and those without nodes last."""
    return sorted(groups, key=lambda each: (not each.starting, not each.nodes, each.name))


def headline(state: LiveState) -> str:
    """Return the fleet in a line."""
    nodes, starting = sum(each.nodes for each in state.groups), sum(each.starting for each in state.groups)
    ready, replicas = sum(each.ready for each in state.models), sum(each.replicas for each in state.models)
    more = f" (+{starting})" if starting else ""
    return (
        f"simulated: {pluralize(len(state.models), 'model')}, {ready}/{replicas} replicas ready, "
        f"{pluralize(nodes, 'node')}{more}, {usd(state.usd_per_hour)} USD/h"
    )


def speeds(state: LiveState) -> str:
    """Return how much faster than life the fleet is, in a line."""
    return f"answers {state.speed:g} x as fast as in life, nodes and pods start {state.start_speed:g} x as fast"


def usd(amount: float | None) -> str:
    """Write dollars an hour."""
    return "-" if amount is None else f"{amount:,.2f}"


def wish(model: ModelState) -> str:
    """Write what the autoscalers of a model want, and their bounds."""
    wishes = [(each.desired if each.has_wish else "?", each.least, each.most) for each in model.scalers]
    return ", ".join(f"{desired} of {least}..{most}" for desired, least, most in wishes) or "-"
