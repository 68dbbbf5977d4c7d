"""The files of a new repository, rendered from the templates in the folder ``templates``."""

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from components.version import __version__

from .answers import ACCELERATORS, Answers, CiChoice

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).with_name("templates")
DESCRIPTION = "Models and the clusters that serve them"
_TEMPLATES_BY_PATH = {
    ".gitignore": "gitignore",
    "Pulumi.local.yaml": "Pulumi.local.yaml",
    "Pulumi.yaml": "Pulumi.yaml",
    "README.md": "README.md",
    "__main__.py": "main.py",
    "requirements.txt": "requirements.txt",
}
_TEMPLATES_BY_CI = {
    CiChoice.GITHUB: {".github/workflows/drift.yml": "drift.yml", ".github/workflows/plan.yml": "github.yml"},
    CiChoice.GITLAB: {".gitlab-ci.yml": "gitlab-ci.yml"},
    CiChoice.NONE: {},
}


def repository(
    answers: Answers, project: str, description: str = DESCRIPTION, template: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return the files of a repository, by path.

    Args:
        answers: The answers.
        project: Name of the Pulumi project.
        description: Description of the Pulumi project.
        template: Title and summary of a template for ``pulumi new``; None for a project.
    """
    from components.clouds.aws.versions import USUAL_VERSION

    instance_type = answers.instance_type
    values: dict[str, Any] = {
        "cluster": answers.cluster.value,
        "stack": answers.stack,
        "region": answers.region,
        "family": answers.family.value,
        "gateway": answers.gateway,
        "project": project,
        "description": description,
        "template": template,
        "cluster_name": "models" if template else project,
        "instance_type": instance_type,
        "accelerator": ACCELERATORS[instance_type],
        "kubernetes": USUAL_VERSION,
        "version": __version__,
    }
    paths = {
        **_TEMPLATES_BY_PATH,
        f"Pulumi.{answers.stack}.yaml": "environment.yaml",
        "models/chat.yaml": f"{answers.family}.yaml",
        **_TEMPLATES_BY_CI[answers.ci],
    }
    environment = _environment()
    return {path: environment.get_template(f"{paths[path]}.j2").render(values) for path in sorted(paths)}


@functools.cache
def _environment() -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(TEMPLATES),
        undefined=StrictUndefined,
        # GitHub's expressions and Pulumi's placeholders have braces.
        variable_start_string="<<",
        variable_end_string=">>",
        block_start_string="<%",
        block_end_string="%>",
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701  YAML, not HTML; only checked names and regions are inserted
    )
