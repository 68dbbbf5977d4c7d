"""The files of the project that adopts a cluster."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from components.contract.documents.writer import dump_all
from components.contract.texts.printable import printable
from components.fleet.objects import Object
from stacks import PROJECT

from ..creating.answers import Answers, CiChoice, ClusterChoice, FamilyChoice, project_name
from ..creating.repository import repository
from ..errors import WorkbenchError
from .decisions import Adoption

MODELS = "models"
OWN_MODELS = "stacks/models"
"""Default of the setting ``models``."""
NO_MODELS = "# Put the manifests of the models here, or into further files of this folder.\n"
"""A file without resources, with which a stack can be previewed and imported before it has models."""
_OF_PROJECT = (".gitignore", "Pulumi.yaml", "__main__.py", "requirements.txt")
"""Files of ``workbench init`` that a new project needs; its example model and stacks are left out."""


def project_files(folder: Path, stack: str, adoption: Adoption, values: Mapping[str, Any]) -> dict[str, str]:
    """Return the files to write, by path: those of a project unless there is one, the stack and the manifests."""
    files: dict[str, str] = {}
    if not (folder / "Pulumi.yaml").exists():
        answers = Answers(ClusterChoice.EXISTING, "", FamilyChoice.LLMAZ, gateway=False, ci=CiChoice.NONE)
        created = repository(answers, project_name(folder.resolve().name))
        files |= {path: created[path] for path in _OF_PROJECT}
    models = model_files(adoption)
    has_own = not models and (folder / OWN_MODELS).is_dir() and not (folder / MODELS).is_dir()
    files[f"Pulumi.{stack}.yaml"] = stack_file({"models": [OWN_MODELS if has_own else MODELS], **values}, adoption)
    return {**files, **models}


def model_files(adoption: Adoption) -> dict[str, str]:
    """Return the manifests, each workload in one file with what belongs to it."""
    documents: dict[str, list[Object]] = {}
    for decision in adoption.decisions:
        if decision.documents:
            documents.setdefault(f"{MODELS}/{decision.file}", []).extend(decision.documents)
    return {path: dump_all(documents[path]) for path in sorted(documents)}


def stack_file(values: Mapping[str, Any], adoption: Adoption) -> str:
    """Return Pulumi.<stack>.yaml."""
    config: dict[str, Any] = {"pulumi:disable-default-providers": ["kubernetes", "aws"]}
    config |= {f"{PROJECT}:{key}": value for key, value in values.items()}
    if not adoption.imports:
        return yaml.safe_dump({"config": config}, sort_keys=False, width=120)
    config[f"{PROJECT}:adopted"] = {
        "objects": list(adoption.imports),
        "retain": True,
        **({"omitted": list(adoption.omitted)} if adoption.omitted else {}),
    }
    head = (
        "# Written by workbench adopt. adopted.objects are imported instead of created, and stay in the cluster\n"
        "# when they leave the stack. Remove an object from the list before a change that replaces it.\n"
    )
    return head + yaml.safe_dump({"config": config}, sort_keys=False, width=120)


def check_absent(folder: Path, files: Mapping[str, str], *, force: bool) -> None:
    """Check that no file would be overwritten, or only with ``--force``.

    Raises:
        WorkbenchError: it would.
    """
    existing = [path for path in files if (folder / path).exists()]
    if existing and not force:
        raise WorkbenchError(
            f"{printable(str(folder))}: nothing was written, because these exist: {', '.join(existing)}; choose "
            "another folder or --stack, or overwrite them with --force"
        )


def write(folder: Path, files: Mapping[str, str]) -> None:
    """Write the files."""
    for path, text in files.items():
        target = folder / path
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        except OSError as error:
            raise WorkbenchError(f"{printable(str(target))}: cannot be written: {error.strerror}") from None
