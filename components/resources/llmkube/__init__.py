"""The components of LLMKube, one per kind."""

from .args import InferenceServiceArgs, ModelArgs
from .inference_service import InferenceService
from .model import Model

__all__ = ["InferenceService", "InferenceServiceArgs", "Model", "ModelArgs"]
