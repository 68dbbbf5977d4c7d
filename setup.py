"""Packages of the wheel: every folder of some packages with an __init__.py, under the published name."""

import re
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

NAME = "inference_platform"
PLACES = {
    "components": NAME,
    "toolkit": f"{NAME}.toolkit",
    "livefleet": f"{NAME}.livefleet",
    "stacks": f"{NAME}.stacks",
    "workbench": f"{NAME}.workbench",
}
"""The packages of a checkout, each with its name in the wheel."""
_IMPORT = re.compile(rf"^(\s*from) ({'|'.join(PLACES)})(?=[ .])", re.MULTILINE)


class Build(build_py):
    """In a checkout these packages import each other by their names there; in the wheel they are one package."""

    def run(self) -> None:
        """Copy the modules, and give their imports the published names."""
        super().run()
        if self.editable_mode:
            return
        for folder, name in PLACES.items():
            if folder == "components":  # its imports are relative
                continue
            for module in Path(self.build_lib, *name.split(".")).rglob("*.py"):
                text = module.read_text(encoding="utf-8")
                module.write_text(_IMPORT.sub(lambda found: f"{found[1]} {PLACES[found[2]]}", text), encoding="utf-8")


def below(name: str, folder: str) -> list[str]:
    """Return a package and those in it."""
    return [name, *(f"{name}.{package}" for package in find_packages(folder))]


setup(
    packages=[package for folder, name in PLACES.items() for package in below(name, folder)],
    package_dir={name: folder for folder, name in PLACES.items()},
    cmdclass={"build_py": Build},
)
