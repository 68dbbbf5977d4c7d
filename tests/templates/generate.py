"""Generates the Python templates for ``pulumi new`` from those of ``workbench init``: ``make templates``."""

import shutil
from pathlib import Path

from tests.layers.modules import ROOT
from workbench.creating.answers import Answers, CiChoice, ClusterChoice, FamilyChoice
from workbench.creating.repository import repository

FOLDER = ROOT / "templates"
_TITLES = {
    "cluster-python": (
        ClusterChoice.EXISTING,
        "Model fleet on an existing cluster",
        "an existing Kubernetes cluster",
    ),
    "eks-python": (ClusterChoice.EKS, "Model fleet on EKS", "a new EKS cluster with GPU nodes"),
}
GENERATED = tuple(_TITLES)


def files(name: str) -> dict[str, str]:
    """Return the files of a template, by path."""
    cluster, title, place = _TITLES[name]
    answers = Answers(cluster, "us-east-1", FamilyChoice.LLMAZ, gateway=False, ci=CiChoice.NONE)
    template = {"title": title, "summary": f"Serve language models on {place}, and try them on a simulated one"}
    return repository(answers, "${PROJECT}", "${DESCRIPTION}", template)


def write(folder: Path) -> None:
    """Write all generated templates."""
    for name in GENERATED:
        shutil.rmtree(folder / name, ignore_errors=True)
        for path, text in files(name).items():
            (folder / name / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / name / path).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(FOLDER)
