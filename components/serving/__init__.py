"""One ComponentResource per kind of the contract, for any Pulumi program."""

from .backend_runtime import BackendRuntime, BackendRuntimeArgs
from .inference_service import InferenceService, InferenceServiceArgs
from .model import Model, ModelArgs
from .open_model import OpenModel, OpenModelArgs
from .playground import Playground, PlaygroundArgs
from .service import Service, ServiceArgs

__all__ = [
    "BackendRuntime",
    "BackendRuntimeArgs",
    "InferenceService",
    "InferenceServiceArgs",
    "Model",
    "ModelArgs",
    "OpenModel",
    "OpenModelArgs",
    "Playground",
    "PlaygroundArgs",
    "Service",
    "ServiceArgs",
]
