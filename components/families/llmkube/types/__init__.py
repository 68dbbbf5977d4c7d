"""The kinds of LLMKube."""

from .inference_service import InferenceService as InferenceService
from .inference_service import InferenceServiceSpec as InferenceServiceSpec
from .model import Model as Model
from .model import ModelSpec as ModelSpec
from .model_router import ModelRouter as ModelRouter
from .shared import FederatedCluster as FederatedCluster
from .shared import GPUQuota as GPUQuota
from .shared import LoRAAdapter as LoRAAdapter
from .shared import ModelPool as ModelPool
