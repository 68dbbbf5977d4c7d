"""The components of LLMKube, one per kind."""

from .inference_service import InferenceService, InferenceServiceArgs
from .model import Model, ModelArgs

__all__ = ["InferenceService", "InferenceServiceArgs", "Model", "ModelArgs"]
