"""The snapshot format of this version.

Other versions read this file as text before they run any code of it, so only the number may change.
"""

SNAPSHOT_FORMAT = 2
"""Version of the output of ``python -m workbench.planning``."""
