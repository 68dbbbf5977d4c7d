"""Build and check what a release consists of. Targets of the Makefile run it: ``make dist``, ``make check-release``.

    python tools/make_release.py dist     # wheel, sdist, plugin archives, archives of generated SDKs, checksums
    python tools/make_release.py programs --platform linux-arm64   # wheels with the programs of the simulated cluster
    python tools/make_release.py sbom     # the software bill of materials, CycloneDX
    python tools/make_release.py check    # build everything twice, compare, install it and run it
    python tools/make_release.py notes    # the section of the changelog; with --tag also whether the versions agree

Everything is built from the last commit, with its date: the same commit gives the same bytes.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from releasing.checks import check
from releasing.distributions import build, write_checksums
from releasing.notes import notes
from releasing.programs import TAGS, build_programs
from releasing.sbom import write_sbom
from releasing.sources import ReleaseError, ReleaseSource

ROOT = Path(__file__).parents[1]


def main(words: Sequence[str] | None = None) -> int:
    """Run a command. Exit code 1 and a message on errors."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["dist", "programs", "sbom", "check", "notes"])
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="folder of the results (default: dist)")
    parser.add_argument("--tag", help="tag of the release, such as v0.1.0")
    parser.add_argument("--platform", action="append", help="platform of programs, such as linux-amd64; repeatable")
    args = parser.parse_args(words)
    try:
        source = ReleaseSource.of(ROOT)
        if args.command == "notes":
            sys.stdout.write(notes(source, args.tag))
            return 0
        if source.changed:
            sys.stderr.write("warning: uncommitted changes are not part of the release\n")
        args.out.mkdir(parents=True, exist_ok=True)
        if args.command == "dist":
            build(source, args.out)
        elif args.command == "programs":
            build_programs(source, args.out, args.platform or TAGS)
        elif args.command == "sbom":
            write_sbom(source, args.out)
        else:
            check(source, args.out)
        write_checksums(args.out)
    except ReleaseError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
