"""Lazy imports: names of a package that are imported on first use, so that other uses do not load Pulumi."""

import importlib
from collections.abc import Callable, Mapping
from typing import Any

from .extras import with_extra


def lazy_exports(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package.

    Args:
        package: The package.
        homes: The module of each name, relative to the package as in an import, without the first dot:
            ``charts`` is a module in it, ``..charts`` one of its grandparent. The arguments of a component,
            ``<name>Args``, are in the module of the component.
    """

    def find(name: str) -> Any:  # noqa: ANN401  a class
        home = homes.get(name) or homes.get(name.removesuffix("Args"))
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        try:
            module = importlib.import_module(f".{home}", package)
        except ModuleNotFoundError as error:
            raise with_extra(error, name) from None
        return getattr(module, name)

    return find


def lazy_attribute(package: str, module: str, name: str) -> Callable[[], Any]:
    """Return a function that imports a module of a package and returns an attribute of it.

    Args:
        package: The package.
        module: The module, relative to the package.
        name: The attribute.
    """

    def load() -> Any:  # noqa: ANN401  any attribute
        return getattr(importlib.import_module(f"{package}.{module}"), name)

    return load


def lazy_call(package: str, module: str, name: str) -> Callable[[], Any]:
    """Return a function that imports a module of a package and calls one of its functions without arguments."""
    function = lazy_attribute(package, module, name)
    return lambda: function()()
