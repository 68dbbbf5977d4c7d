"""The engine's arguments in the pods of a Service, which its author wrote by hand."""

from ..catalog.flags import dated
from ..catalog.runtimes import engine_of
from .findings import Findings
from .flag_lint import report
from .loaders import RUNNER
from .metric_pods import image_of
from .types import Object


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
    repository, tag = image_of(container)
    engine = engine_of(repository)
    if engine is None or (not tag and "@" in container["image"]):
        return
    args, command = container.get("args") or [], container.get("command") or []
    report(findings, path, engine.name, args, dated(engine.name, repository, tag), command=command)
