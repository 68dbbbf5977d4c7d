"""What LLMKube's operator cannot be told, does not do or does wrong: reported before it is left to it."""

from ...api.llmkube import EndpointSpec
from ...catalog.llmkube import llmkube
from ..findings import Findings
from ..options import Options
from ..placement import taints
from ..types import NodeChoice, Object
from .hardware import MODEL_PATH, Hardware
from .serving import Serving

_OPTIONS = ("overrides", "cache", "runtimes", "grace_seconds", "scheduler_name")
_UPSTREAM_METRICS = ("llamacpp", "vllm")
"""Runtimes whose default metric is one that the server exports."""


def check_for_operator(
    serving: Serving, hardware: Hardware, choices: tuple[NodeChoice, ...], options: Options, findings: Findings
) -> None:
    """Refuse what the operator v0.8.7 ignores or breaks (LLMKube spec 4), instead of dropping it silently."""
    for name in _OPTIONS:
        if getattr(options, name) != getattr(Options(), name):
            reason = f"the option {name!r} is for realization 'native'; the LLMKube operator knows nothing of it"
            findings.error("", reason)
    _check_port(serving, findings)
    _check_hardware(serving, hardware, findings)
    _check_placement(serving, hardware, choices, findings)
    _check_metric(serving, findings)


def _check_port(serving: Serving, findings: Findings) -> None:
    port = (serving.service.spec.endpoint or EndpointSpec()).port
    if port != serving.port:
        findings.error(
            "spec.endpoint.port",
            f"the LLMKube operator's Service leads to port {port}, and the container listens on {serving.port}; set "
            f"endpoint.port: {serving.port}, or use realization 'native'",
        )


def _check_hardware(serving: Serving, hardware: Hardware, findings: Findings) -> None:
    if hardware.gpus and hardware.vendor == "amd":
        findings.error(
            MODEL_PATH,
            f"the LLMKube operator asks for {llmkube().resources['nvidia']} where the Model's GPUs are AMD's; use "
            "realization 'native'",
        )
    if serving.runtime == "llamacpp" and hardware.gpus and not serving.service.spec.image:
        findings.warn(
            "spec.image",
            "the LLMKube operator takes an image without GPU support by default; name one that has it, such as "
            f"{serving.image}",
        )


def _check_placement(
    serving: Serving, hardware: Hardware, choices: tuple[NodeChoice, ...], findings: Findings
) -> None:
    spec = serving.service.spec
    for field, value in (("nodeSelector", spec.node_selector), ("tolerations", spec.tolerations)):
        if value and not hardware.gpus:
            reason = "the LLMKube operator drops it where no GPUs are asked for; use realization 'native'"
            findings.warn(f"spec.{field}", reason)
    for taint in {t["key"]: t for choice in choices for t in taints(choice.instance_type)}.values():
        if hardware.gpus and not any(_tolerates(each, taint) for each in spec.tolerations or ()):
            findings.error(
                "spec.tolerations",
                f"its nodes have the taint {taint['key']}={taint['value']}:NoSchedule, and the LLMKube operator "
                f"tolerates the value 'present' alone; add {{key: {taint['key']}, operator: Exists}}",
            )


def _tolerates(toleration: Object, taint: dict[str, str]) -> bool:
    """Whether a toleration meets a taint, as the scheduler sees it: what is left out matches all."""
    if toleration.get("effect") not in (None, "", taint["effect"]):
        return False
    exists = toleration.get("operator") == "Exists"
    key = toleration.get("key") or ""
    if not key:
        return exists
    return key == taint["key"] and (exists or toleration.get("value") == taint["value"])


def _check_metric(serving: Serving, findings: Findings) -> None:
    scaling = serving.service.spec.autoscaling
    if scaling and not scaling.metrics and serving.runtime not in _UPSTREAM_METRICS:
        findings.error(
            "spec.autoscaling.metrics",
            f"the LLMKube operator's default with runtime {serving.runtime} is a metric that its server does not "
            "export; name one that it does",
        )
