"""The settings of a stack, for commands that ask what it would deploy without running the program."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pulumi

from ..errors import WorkbenchError
from .project import load_project

if TYPE_CHECKING:
    from components.plan.settings import FleetSettings


def stack_settings(folder: Path, stack: str, overrides: Mapping[str, Any]) -> "FleetSettings":
    """Read the settings of a stack of this project.

    Raises:
        ModuleNotFoundError: ``stacks`` is not installed, as in the wheel.
        WorkbenchError: another project is in the folder, or settings are wrong; all of them are listed.
    """
    from stacks.settings import PROJECT, from_config

    project = load_project(folder, stack)
    if project.name != PROJECT:
        raise WorkbenchError(f"{folder / 'Pulumi.yaml'}: name: --stack needs the project {PROJECT}", 2)
    try:
        return from_config(project.config, stack, overrides)
    except pulumi.RunError as error:
        raise WorkbenchError(str(error)) from None
