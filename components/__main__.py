"""The multi-language plugin: other Pulumi languages see the components through it.

The host runs this folder as a program, so the installed package is imported by its own name.
"""

import importlib.metadata

from inference_platform.plugin import NAME, components
from pulumi.provider.experimental import component_provider_host

if __name__ == "__main__":
    component_provider_host(components=components(), name=NAME, version=importlib.metadata.version(NAME))
