"""The components of LLMKube, one per kind."""

from .args import (
    FederatedClusterArgs,
    GPUQuotaArgs,
    InferenceServiceArgs,
    LoRAAdapterArgs,
    ModelArgs,
    ModelPoolArgs,
    ModelRouterArgs,
)
from .federated_cluster import FederatedCluster
from .gpu_quota import GPUQuota
from .inference_service import InferenceService
from .lora_adapter import LoRAAdapter
from .model import Model
from .model_pool import ModelPool
from .model_router import ModelRouter

__all__ = [
    "FederatedCluster",
    "FederatedClusterArgs",
    "GPUQuota",
    "GPUQuotaArgs",
    "InferenceService",
    "InferenceServiceArgs",
    "LoRAAdapter",
    "LoRAAdapterArgs",
    "Model",
    "ModelArgs",
    "ModelPool",
    "ModelPoolArgs",
    "ModelRouter",
    "ModelRouterArgs",
]
