"""kwok's stages where somebody stands behind the pods (``pods``), and plays the kubelet's probes.

They are those of its module, but for two things. A pod with a readiness probe runs without being Ready, until the
process behind the pods says so. A node becomes Ready once that process has decided whether it is there or held in
reserve. The scheduler may be faster all the same, since the node controller has no taint for a node that says nothing
of its state; what becomes of such pods is that process's matter, too (``NodeKeeper``).
"""

from typing import Any

import yaml

from toolkit.errors import UserError

SEEN = "workbench/node"
"""Annotation of nodes that the process has seen; its value is the state that they are in."""
_PROBED = (
    "{{ $probed := false }}"
    "{{ range .spec.containers }}{{ if .readinessProbe }}{{ $probed = true }}{{ end }}{{ end }}\n"
)
_UNLESS_PROBED = '{{ if $probed }}"False"{{ else }}"True"{{ end }}'
_KEY = f'.metadata.annotations["{SEEN}"]'


def live_stages(text: str) -> str:
    """Return kwok's stages as they are while the live fleet plays.

    Raises:
        UserError: they are not those that are known.
    """
    stages = {stage["metadata"]["name"]: stage for stage in yaml.safe_load_all(text) if stage}
    try:
        _hold_pods(stages["pod-ready"]["spec"]["next"])
        stages["node-initialize"]["spec"]["selector"]["matchExpressions"].append({"key": _KEY, "operator": "Exists"})
    except KeyError as error:
        raise _unknown(str(error)) from None
    return yaml.safe_dump_all(stages.values(), sort_keys=False)


def _hold_pods(step: dict[str, Any]) -> None:
    template = step["statusTemplate"]
    for condition in ("Ready", "ContainersReady"):
        template = _replaced(template, f'status: "True"\n  type: {condition}\n', '"True"', _UNLESS_PROBED)
    before, containers, after = template.partition("range .spec.containers }}")
    if not containers:
        raise _unknown("pod-ready has no containers")
    after = _replaced(after, "ready: true\n", "true", "{{ if .readinessProbe }}false{{ else }}true{{ end }}")
    step["statusTemplate"] = _PROBED + before + containers + after


def _replaced(text: str, place: str, old: str, new: str) -> str:
    """Replace within the first occurrence of a place."""
    if place not in text:
        raise _unknown(f"no {place.strip()!r}")
    return text.replace(place, place.replace(old, new), 1)


def _unknown(found: str) -> UserError:
    return UserError(
        f"kwok's stages are not those of the pinned version: {found}; remove other versions of kwok from the PATH"
    )
