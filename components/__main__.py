"""The multi-language plugin: other Pulumi languages see the components through it.

The host runs this folder as a program, so the installed package is imported by its own name.
"""

import importlib.metadata

from inference_platform.serving import BackendRuntime, InferenceService, Model, OpenModel, Playground, Service
from pulumi.provider.experimental import component_provider_host

if __name__ == "__main__":
    component_provider_host(
        components=[OpenModel, BackendRuntime, Playground, Service, Model, InferenceService],
        name="inference-platform",
        version=importlib.metadata.version("inference-platform"),
    )
