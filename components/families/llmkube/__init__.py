"""LLMKube: Model and InferenceService."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .components import InferenceService as InferenceService
    from .components import InferenceServiceArgs as InferenceServiceArgs
    from .components import Model as Model
    from .components import ModelArgs as ModelArgs
else:
    from ...lazy import offered

    __getattr__ = offered(__name__, dict.fromkeys(("InferenceService", "Model"), "components"))
