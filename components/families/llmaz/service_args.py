"""The engine's arguments in the pods of a Service, which its author wrote by hand."""

from ...api.findings import Findings
from ...engines.command_line import line_of
from ...engines.images import image_of
from ...engines.lint import report
from ...fleet.objects import Object
from .loaders import RUNNER


def check_service_args(template: Object, findings: Findings) -> None:
    """Report what is wrong with the arguments of the model runners.

    Args:
        template: ``spec.workloadTemplate`` in wire form. Where only a digest names the image, its version is not
            known, and the arguments are left alone.
        findings: Where to report.
    """
    for part in ("leaderTemplate", "workerTemplate"):
        pod = (template.get(part) or {}).get("spec", {})
        for position, container in enumerate(pod.get("containers", [])):
            if container["name"] == RUNNER:
                _check(container, f"spec.workloadTemplate.{part}.spec.containers[{position}].args", findings)


def _check(container: Object, path: str, findings: Findings) -> None:
    image = image_of(str(container.get("image") or ""))
    if image.tag or not image.digest:
        report(findings, path, line_of(container))
