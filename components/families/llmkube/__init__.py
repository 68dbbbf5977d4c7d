"""LLMKube: Model, InferenceService, and the kinds of its later releases."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...resources.llmkube import FederatedCluster as FederatedCluster
    from ...resources.llmkube import FederatedClusterArgs as FederatedClusterArgs
    from ...resources.llmkube import GPUQuota as GPUQuota
    from ...resources.llmkube import GPUQuotaArgs as GPUQuotaArgs
    from ...resources.llmkube import InferenceService as InferenceService
    from ...resources.llmkube import InferenceServiceArgs as InferenceServiceArgs
    from ...resources.llmkube import LoRAAdapter as LoRAAdapter
    from ...resources.llmkube import LoRAAdapterArgs as LoRAAdapterArgs
    from ...resources.llmkube import Model as Model
    from ...resources.llmkube import ModelArgs as ModelArgs
    from ...resources.llmkube import ModelPool as ModelPool
    from ...resources.llmkube import ModelPoolArgs as ModelPoolArgs
    from ...resources.llmkube import ModelRouter as ModelRouter
    from ...resources.llmkube import ModelRouterArgs as ModelRouterArgs
else:
    from ...contract.lazy import lazy_exports

    _COMPONENTS = (
        "FederatedCluster",
        "GPUQuota",
        "InferenceService",
        "LoRAAdapter",
        "Model",
        "ModelPool",
        "ModelRouter",
    )
    __getattr__ = lazy_exports(__name__, dict.fromkeys(_COMPONENTS, "..resources.llmkube"))
