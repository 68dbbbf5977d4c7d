"""What this version can do for another one that compares with it.

Other versions read this file as text, before they run anything of it: the line stays as it is, but for the number.
"""

SNAPSHOT_FORMAT = 2
"""Form of what ``python -m workbench.planning`` writes."""
