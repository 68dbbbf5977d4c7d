"""A toy family: what a fifth API would add, and nothing outside this folder knows of it."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .components import Pair as Pair
else:
    from components.contract.lazy import lazy_exports

    __getattr__ = lazy_exports(__name__, {"Pair": "components"})
