"""Checks of the hand-written containers of a Service: their arguments and their weights."""

from collections.abc import Iterator

from ...contract.findings.collector import Findings
from ...contract.findings.ids import RuleId
from ...engines.command_line import command_line_of
from ...engines.images import parse_image
from ...engines.lint import report_findings
from ...engines.settings import Setting
from ...fleet.objects import Object
from .loaders import RUNNER
from .models import MODEL_ROOT, Claim, model_path, source_of

_TEMPLATE = "spec.workloadTemplate"


def check_service_args(template: Object, claim: Claim, findings: Findings) -> None:
    """Check the arguments of the model runners.

    Args:
        template: ``spec.workloadTemplate`` in wire form. The arguments of an image with a digest only are not
        checked, because its version is unknown.
        claim: The claimed models.
        findings: Receives the problems.
    """
    for path, container in _runners(template):
        image = parse_image(str(container.get("image") or ""))
        if image.tag or not image.digest:
            report_findings(findings, f"{path}.args", command_line_of(container))
        _check_path(container, path, claim, findings)
    leader = template.get("leaderTemplate")
    if leader and template.get("size", 1) == 1 and all(c["name"] != RUNNER for c in leader["spec"]["containers"]):
        names = [container["name"] for container in leader["spec"]["containers"]]
        findings.error(
            f"{_TEMPLATE}.leaderTemplate.spec.containers",
            f"must have one named {RUNNER!r}, since size 1 leaves the leader alone, found {names}; rename one, "
            "remove the template, or raise size",
            RuleId.NATIVE_UNSUPPORTED,
        )


def _runners(template: Object) -> Iterator[tuple[str, Object]]:
    for part in ("leaderTemplate", "workerTemplate"):
        containers = (template.get(part) or {}).get("spec", {}).get("containers", [])
        for position, container in enumerate(containers):
            if container["name"] == RUNNER:
                yield f"{_TEMPLATE}.{part}.spec.containers[{position}]", container


def _check_path(container: Object, path: str, claim: Claim, findings: Findings) -> None:
    """Warn of an engine that expects its model where no loader puts it."""
    line = command_line_of(container)
    words = (word for text in line.words for word in text.split())
    served = line.value_of(Setting.MODEL) or next((word for word in words if word.startswith(MODEL_ROOT)), None)
    fetched = [model_path(model, skip_loader=False) for model in claim.models if source_of(model).scheme != "ollama"]
    if served is None or claim.skip_loader or not served.startswith(MODEL_ROOT) or not fetched:
        return
    mounted = [mount["mountPath"] for mount in container.get("volumeMounts") or ()]
    if any(_within(served, folder) or _within(folder, served) for folder in (*fetched, *mounted)):
        return
    field = next((name for name in ("command", "args") if served in container.get(name, ())), "args")
    findings.warn(
        f"{path}.{field}",
        f"serves {served}, but OpenModel {claim.main.metadata.name!r} is loaded into {fetched[0]}, so the engine "
        "finds no model; make the two match",
        RuleId.WEIGHTS_ELSEWHERE,
    )


def _within(path: str, folder: str) -> bool:
    """Whether a path is a folder or inside it; the root of all models never counts."""
    path, folder = path.rstrip("/"), folder.rstrip("/")
    return folder != MODEL_ROOT.rstrip("/") and (path == folder or path.startswith(f"{folder}/"))
