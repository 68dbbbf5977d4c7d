"""LLMKube: Model and InferenceService."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...resources.llmkube import InferenceService as InferenceService
    from ...resources.llmkube import InferenceServiceArgs as InferenceServiceArgs
    from ...resources.llmkube import Model as Model
    from ...resources.llmkube import ModelArgs as ModelArgs
else:
    from ...contract.lazy import lazy_exports

    __getattr__ = lazy_exports(__name__, dict.fromkeys(("InferenceService", "Model"), "..resources.llmkube"))
