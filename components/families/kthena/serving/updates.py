"""Which pods Kthena's controller replaces after an edit of a ModelServing.

Its revision is a hash of the roles without their replicas, so that an edit of one role replaces every role of a
serving group, and a role that is added or removed does so too; RoleRollingUpdate compares each role by itself.
Sources: volcano-sh/kthena at each release, pkg/model-serving-controller/controller (manageServingGroupRollingUpdate,
later manageRollingUpdate) and utils/revision_util.go.
"""

import hashlib
import json
from collections.abc import Iterable
from typing import Any

from ....contract.texts.secrets import masked
from ....fleet.workloads import UpdateUnit
from ...leaderworkerset.rules import share
from ..controllers import Controllers
from ..types.model_serving import Role
from .context import ServingContext

_NOT_IN_PODS = ("replicas", "maxUnavailable")
_DIGEST = 12


def update_unit(serving: ServingContext, role: Role) -> UpdateUnit:
    """Return how the controller replaces the instances of a role."""
    of = f"{serving.resource.kind} {serving.namespace}/{serving.name}"
    controllers = Controllers.of(serving.source)
    if _compares_roles(serving, controllers):
        # Each serving group is updated at once; maxUnavailable of the role bounds the instances within one.
        at_once = None
        if role.max_unavailable is not None:
            at_once = max(1, share(role.max_unavailable, role.replicas, up=False))
        return UpdateUnit(of, _revision([role]), role.replicas, serving.partition, at_once=at_once)
    # Until v0.2.0 maxUnavailable is ignored.
    unavailable = 1
    if not controllers.until("v0.2.0"):
        unavailable = max(1, share(serving.rolling_update.max_unavailable, serving.replicas, up=False))
    return UpdateUnit(of, _revision(serving.group.roles), role.replicas, serving.partition, unavailable)


def _compares_roles(serving: ServingContext, controllers: Controllers) -> bool:
    """Whether only the instances of an edited role are replaced.

    v0.4.0 does this also without a rolloutStrategy, although the default of its type is ServingGroupRollingUpdate
    (deleteOutdatedResourcesForRollingUpdate).
    """
    without_strategy = serving.spec.rollout_strategy is None
    return serving.rolls_roles or (without_strategy and controllers.since("v0.4.0") and controllers.until("v0.4.0"))


def _revision(roles: Iterable[Role]) -> str:
    templates: list[dict[str, Any]] = [
        {key: value for key, value in role.wire().items() if key not in _NOT_IN_PODS} for role in roles
    ]
    text = json.dumps(masked({"roles": templates}), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGEST]
