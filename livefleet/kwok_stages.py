"""kwok's stages for a cluster in which the process behind the pods (``pods``) plays the kubelet's probes.

They differ from kwok's own in two points. A pod with a readiness probe runs without being Ready until the process
behind the pods sets the condition. A node becomes Ready only after that process has decided whether it is in use or
held in reserve. The scheduler may bind pods before, because the node controller does not taint a node without
conditions; ``NodeController`` handles these pods.
"""

from typing import Any

import yaml

from toolkit.errors import UserError

SEEN = "workbench/node"
"""Annotation of nodes that the process has handled; its value is their state (``NodeStage``)."""
_PROBED = (
    "{{ $probed := false }}"
    "{{ range .spec.containers }}{{ if .readinessProbe }}{{ $probed = true }}{{ end }}{{ end }}\n"
)
_UNLESS_PROBED = '{{ if $probed }}"False"{{ else }}"True"{{ end }}'
_KEY = f'.metadata.annotations["{SEEN}"]'


def live_stages(text: str) -> str:
    """Return kwok's stages, changed for the live fleet.

    Raises:
        UserError: they are not the stages of the pinned version.
    """
    stages = {stage["metadata"]["name"]: stage for stage in yaml.safe_load_all(text) if stage}
    try:
        _hold_unready(stages["pod-ready"]["spec"]["next"])
        stages["node-initialize"]["spec"]["selector"]["matchExpressions"].append({"key": _KEY, "operator": "Exists"})
    except KeyError as error:
        raise _unknown_stages(str(error)) from None
    return yaml.safe_dump_all(stages.values(), sort_keys=False)


def _hold_unready(step: dict[str, Any]) -> None:
    template = step["statusTemplate"]
    for condition in ("Ready", "ContainersReady"):
        template = _replace_within(template, f'status: "True"\n  type: {condition}\n', '"True"', _UNLESS_PROBED)
    before, containers, after = template.partition("range .spec.containers }}")
    if not containers:
        raise _unknown_stages("pod-ready has no containers")
    after = _replace_within(after, "ready: true\n", "true", "{{ if .readinessProbe }}false{{ else }}true{{ end }}")
    step["statusTemplate"] = _PROBED + before + containers + after


def _replace_within(text: str, block: str, old: str, new: str) -> str:
    """Replace ``old`` within the first occurrence of a block."""
    if block not in text:
        raise _unknown_stages(f"no {block.strip()!r}")
    return text.replace(block, block.replace(old, new), 1)


def _unknown_stages(difference: str) -> UserError:
    return UserError(
        f"kwok's stages are not those of the pinned version: {difference}; remove other versions of kwok from the "
        "PATH"
    )
