"""What Python has compiled of the code of one revision, for another one that has the same.

Compiling takes longer than planning does.
"""

import contextlib
import importlib.util
import os
import shutil
from pathlib import Path

_CODE = ("components", "stacks", "toolkit", "livefleet", "workbench")


def share_compiled(project: Path, other: Path) -> None:
    """Give modules of another copy of a project what was compiled of their equals in this one.

    Python takes what it has compiled by time and size of the module (PEP 3147), so equal ones get the same time.
    """
    for module in (path for folder in _CODE for path in (other / folder).rglob("*.py")):
        own = project / module.relative_to(other)
        # Whatever cannot be shared is compiled again: that is slower, and nothing else.
        with contextlib.suppress(OSError):
            _share(own, module)


def _share(own: Path, module: Path) -> None:
    compiled = Path(importlib.util.cache_from_source(str(own)))
    if not compiled.is_file() or own.read_bytes() != module.read_bytes():
        return
    place = Path(importlib.util.cache_from_source(str(module)))
    place.parent.mkdir(exist_ok=True)
    times = own.stat()
    os.utime(module, ns=(times.st_atime_ns, times.st_mtime_ns))
    shutil.copyfile(compiled, place)
