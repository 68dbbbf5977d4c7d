"""The multi-language plugin: other Pulumi languages see the components through it.

The host runs this folder as a program, so the installed package is imported by its own name.
"""

import importlib.metadata
import sys

from inference_platform.plugin import NAME, Host
from pulumi.provider import main

if __name__ == "__main__":
    main(Host(importlib.metadata.version(NAME)), sys.argv[1:])
