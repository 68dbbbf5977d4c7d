"""Timeouts of AWS resources."""

from typing import Any

import pulumi

from ....clouds.aws.facts.waits import node_group_timeouts, waits
from ....contract.texts.durations import seconds
from ....fleet.timeouts import Timeouts
from ...serving.waiting import custom_timeouts
from ..args import AwsTimeoutArgs

_DEFAULTS: AwsTimeoutArgs = {}


def waiting(opts: pulumi.ResourceOptions | None, overrides: AwsTimeoutArgs = _DEFAULTS) -> pulumi.ResourceOptions:
    """Return the options of a component whose children get the timeouts of their types.

    A transformation does it, because children are created in many places, and each must have them. Children with
    timeouts of their own keep these, and a transformation of the caller may set others.

    Args:
        opts: The component's options.
        overrides: The argument ``timeouts``.
    """

    def set_timeouts(args: pulumi.ResourceTransformationArgs) -> pulumi.ResourceTransformationResult | None:
        known = waits().get(args.type_)
        if known is None or args.opts.custom_timeouts is not None:
            return None
        timeouts, setting = known
        within = custom_timeouts(overridden(timeouts, overrides, setting))
        own = pulumi.ResourceOptions(custom_timeouts=within)
        return pulumi.ResourceTransformationResult(args.props, pulumi.ResourceOptions.merge(args.opts, own))

    return pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(transformations=[set_timeouts]))


def overridden(timeouts: Timeouts, overrides: AwsTimeoutArgs, setting: str) -> Timeouts:
    """Return timeouts, or the one that the arguments set instead."""
    text: str | None = dict[str, Any](overrides).get(setting)
    return timeouts.replaced(seconds(text) if text else None)


def node_group_option(
    nodes: int, at_once: int, overrides: AwsTimeoutArgs = _DEFAULTS
) -> pulumi.CustomTimeouts | None:
    """Return the timeouts of a managed node group.

    Args:
        nodes: Nodes of the group, at most.
        at_once: Nodes that an update may make unavailable at once.
        overrides: The argument ``timeouts``.
    """
    return custom_timeouts(overridden(node_group_timeouts(nodes, at_once), overrides, "node_groups"))
