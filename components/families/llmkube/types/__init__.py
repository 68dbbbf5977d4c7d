"""The kinds of LLMKube."""

from .inference_service import InferenceService as InferenceService
from .inference_service import InferenceServiceSpec as InferenceServiceSpec
from .model import Model as Model
from .model import ModelSpec as ModelSpec
