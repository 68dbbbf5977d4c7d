"""The multi-language plugin: other Pulumi languages see the components through it.

The host runs this folder as a program, so the installed package is imported by its own name.
"""

import sys

from inference_platform import __version__
from inference_platform.resources.plugin import Host
from pulumi.provider import main

if __name__ == "__main__":
    main(Host(__version__), sys.argv[1:])
