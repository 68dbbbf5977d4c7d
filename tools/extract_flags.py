"""Bring an engine's ``flags.yaml`` up to a release of vLLM or SGLang.

    python tools/extract_flags.py vllm 0.34.0 FOLDER
    python tools/extract_flags.py --check sglang 0.5.23 FOLDER

FOLDER contains the package: ``site-packages``, an unpacked wheel, or an unpacked source distribution. The sources are
parsed and never imported, so neither PyTorch nor a GPU is needed. What depends on code that runs, such as choices
that plugins extend, is listed as not readable; the row in the table stays as it is.

A release that the table does not list yet is added: new flags and values get ``from`` and ``absent``, removed ones
``until``, and a changed form moves to ``earlier``. The columns are explained in ``components/engines/flags/rows.py``.
For a release that the table lists already, or where the columns cannot express a change, the difference is printed
and has to be resolved by hand.

Exit codes: 0 success, 1 differences with ``--check`` or differences to resolve by hand, 2 usage error.
"""

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from extraction.sglang import SglangReader
from extraction.sources import PackageSources
from extraction.table import Table, rewritten, tuple_of
from extraction.update import Update
from extraction.vllm import VllmReader

TABLES = Path(__file__).parents[1] / "components" / "engines"
READERS = {"sglang": SglangReader, "vllm": VllmReader}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("engine", choices=sorted(READERS))
    parser.add_argument("version", help="version of the release, such as 0.34.0")
    parser.add_argument("folder", type=Path, help="folder that contains the package")
    parser.add_argument("--check", action="store_true", help="compare only; exit with 1 on a difference")
    parser.add_argument("--table", type=Path, help="the table; by default that of the engine in this checkout")
    options = parser.parse_args(arguments)
    if not re.fullmatch(r"\d+(\.\d+)+", options.version):
        parser.error(f"{options.version!r} is not the version of a release, such as 0.34.0")
    version = tuple_of([int(part) for part in options.version.split(".")])
    path = options.table or TABLES / options.engine / "flags.yaml"
    table = Table(path.read_text(encoding="utf-8"))
    release = READERS[options.engine](PackageSources(options.folder)).read()
    update = Update(table, version)
    update.compare(release)
    write = sys.stdout.write
    for text in dict.fromkeys(release.unread):
        write(f"not readable: {text}\n")
    for text in update.notes:
        write(f"note: {text}\n")
    for text in update.messages:
        write(f"{'differs' if options.check else 'changed'}: {text}\n")
    for text in update.by_hand:
        write(f"by hand: {text}\n")
    lists = release.complete and not update.by_hand
    if not options.check:
        versions = sorted({*table.releases, version}) if lists else table.releases
        new = rewritten(table, update.changed, versions)
        if new != table.text:
            path.write_text(new, encoding="utf-8")
        if version not in versions:
            write(f"{options.version} is not listed as complete yet: resolve the above and run this again\n")
    elif not update.is_listed:
        write(f"differs: {options.version} is not in the list of complete releases\n")
        return 1
    return 1 if update.by_hand or not release.complete or (options.check and update.messages) else 0


if __name__ == "__main__":
    sys.exit(main())
