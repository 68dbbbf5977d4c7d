"""Add a release of vLLM or SGLang to the engine's ``parsers.json``.

    python tools/extract_flags.py vllm 0.34.0
    python tools/extract_flags.py vllm 0.34.0 FOLDER
    python tools/extract_flags.py --check sglang 0.5.23 FOLDER

FOLDER contains the package: ``site-packages``, an unpacked wheel, or an unpacked source distribution. Without it, pip
downloads the wheel, of which only the Python modules are unpacked. The sources are parsed and never imported, so
neither PyTorch nor a GPU is needed. Choices that depend on code that runs, such as those that plugins extend, are
listed as not readable; state them in ``flags.yaml``, which contains everything that is known beyond the parser.

The differences from the release before it are printed. A release that is listed already is read again.

Exit codes: 0 success, 1 the release has flags that cannot be read or, with ``--check``, differs from the table,
2 usage error.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from extraction.history import Parser, Row, changes, digest, order, parser_in, parser_of, rows_of
from extraction.sglang import SglangReader
from extraction.sources import PackageSources
from extraction.vllm import VllmReader

TABLES = Path(__file__).parents[1] / "components" / "engines"
READERS: Mapping[str, type[SglangReader] | type[VllmReader]] = {"sglang": SglangReader, "vllm": VllmReader}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("engine", choices=sorted(READERS))
    parser.add_argument("version", help="version of the release, such as 0.34.0 or 0.5.5.post3")
    parser.add_argument(
        "folder", type=Path, nargs="?", help="folder that contains the package; by default downloaded"
    )
    parser.add_argument("--check", action="store_true", help="compare only; exit with 1 on a difference")
    parser.add_argument("--table", type=Path, help="the table; by default that of the engine in this checkout")
    options = parser.parse_args(arguments)
    version: str = options.version
    if not re.fullmatch(r"\d+(\.\d+)+(\.post\d+)?", version):
        parser.error(f"{version!r} is not the version of a release, such as 0.34.0 or 0.5.5.post3")
    path = options.table or TABLES / options.engine / "parsers.json"
    table = json.loads(path.read_text(encoding="utf-8"))
    releases: dict[str, str] = table["releases"]

    if options.folder is not None:
        release = READERS[options.engine](PackageSources(options.folder)).read()
    else:
        with tempfile.TemporaryDirectory() as folder:
            download(options.engine, version, Path(folder))
            release = READERS[options.engine](PackageSources(Path(folder))).read()
    accepted = parser_of(release)

    write = sys.stdout.write
    for text in dict.fromkeys(release.unread):
        write(f"not readable: {text}\n")
    if not release.complete:
        write(f"{version} is not added: a flag that cannot be read may be missing\n")
        return 1

    # A listed release is compared with itself, a new one with the one before it.
    earlier = [known for known in releases if order(known) <= order(version)]
    before = parser_in(table["flags"], max(earlier, key=order)) if earlier else {}
    for text in changes(before, accepted):
        write(f"{text}\n")
    if options.check:
        return 0 if releases.get(version) == digest(accepted) == digest(before) else 1
    parsers = {known: parser_in(table["flags"], known) for known in releases} | {version: accepted}
    path.write_text(written(parsers, {**releases, version: digest(accepted)}), encoding="utf-8")
    return 0


def download(engine: str, version: str, folder: Path) -> None:
    """Unpack the Python modules of a release's wheel, of any platform, into a folder."""
    pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--dest", str(folder)]
    subprocess.run([*pip, f"{engine}=={version}"], check=True, stdout=sys.stderr)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder, [name for name in archive.namelist() if name.endswith(".py")])


def written(parsers: Mapping[str, Parser], digests: Mapping[str, str]) -> str:
    """Return the text of the table: a line for each release and each flag, so that a difference of it is readable."""
    rows: Mapping[str, Row] = rows_of(parsers)
    releases = [f"    {json.dumps(known)}: {json.dumps(digests[known])}" for known in sorted(digests, key=order)]
    flags = [f"    {json.dumps(name)}: {json.dumps(row, ensure_ascii=False)}" for name, row in rows.items()]
    parts = ['{\n  "releases": {\n', ",\n".join(releases), '\n  },\n  "flags": {\n', ",\n".join(flags), "\n  }\n}\n"]
    return "".join(parts)


if __name__ == "__main__":
    sys.exit(main())
