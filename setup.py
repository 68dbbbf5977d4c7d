"""Packages of the wheel: every folder of components/ and workbench/ with an __init__.py, under the published name."""

import re
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

NAME = "inference_platform"
WORKBENCH = f"{NAME}.workbench"
_IMPORT = re.compile(r"^(\s*(?:from|import)) components\b", re.MULTILINE)


class Build(build_py):
    """In the checkout the workbench imports ``components``; in the wheel that is the package which it is part of."""

    def run(self) -> None:
        """Copy the modules, and give the workbench's imports the published name."""
        super().run()
        if self.editable_mode:
            return
        for module in Path(self.build_lib, *WORKBENCH.split(".")).rglob("*.py"):
            text = module.read_text(encoding="utf-8")
            module.write_text(_IMPORT.sub(rf"\1 {NAME}", text), encoding="utf-8")


def below(name: str, folder: str) -> list[str]:
    """Return a package and those in it."""
    return [name, *(f"{name}.{package}" for package in find_packages(folder))]


setup(
    packages=[*below(NAME, "components"), *below(WORKBENCH, "workbench")],
    package_dir={NAME: "components", WORKBENCH: "workbench"},
    cmdclass={"build_py": Build},
)
