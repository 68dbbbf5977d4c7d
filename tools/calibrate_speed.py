"""Fit the speed of engines to published measurements, and measure how far estimates are from them.

    python tools/calibrate_speed.py measure POINTS.csv
    python tools/calibrate_speed.py fit [--points PUBLISHED.csv] [--date DATE]

POINTS.csv has the columns of AIConfigurator's ``silicon_sample.csv`` (Apache-2.0). ``measure`` prints, by engine and
accelerator, the median error of the time between tokens and of the time to the first token, and the share of points
inside the stated range, with the parameters of ``livefleet/pace/calibrated.yaml``; and the rows that stand for no
server, by reason. ``fit`` fits those parameters to ``tools/calibration/points.csv`` and to the calibrating tables of
the tests, writes them with ranges from held-out families of models, and writes ``docs/speed.md`` with its pictures.
``--points`` replaces the stored points by those of a published file first. A fit takes some minutes.

Exit codes: 0 success, 2 usage error.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from calibration.fitting import ENGINES, OWN, SHARED, Prediction, fit, held_out, predict
from calibration.page import page, parameter_file
from calibration.picture import scatter
from calibration.points import Point, read_benchmarks, read_points, write_points
from calibration.ranges import errors_of, ranges_of, worst

from components.contract.tables import load_table

ROOT = Path(__file__).parents[1]
POINTS = ROOT / "tools" / "calibration" / "points.csv"
BENCHMARKS = ROOT / "tests" / "livefleet" / "pace" / "benchmarks.yaml"
PARAMETERS = ROOT / "livefleet" / "pace" / "calibrated.yaml"
PAGE = ROOT / "docs" / "speed.md"
PICTURES = ROOT / "docs" / "pictures"
SOURCE = (
    "Published serving measurements: silicon_sample.csv of ai-dynamo/aiconfigurator at 095f58a51 (Apache-2.0),",
    "mostly from InferenceX. The rows of eight models that stand for a server (tools/calibration/points.py).",
)


def main(arguments: Sequence[str]) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="calibrate_speed", description=(__doc__ or "").partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    measured = commands.add_parser("measure", help="print the errors of estimates")
    measured.add_argument("points", type=Path, help="rows with the columns of silicon_sample.csv")
    fitted = commands.add_parser("fit", help="fit the parameters again")
    fitted.add_argument("--points", type=Path, help="published rows that replace the stored points")
    fitted.add_argument("--date", default="2026-11-30", help="date of the fit")
    given = parser.parse_args(arguments)
    if given.points is not None and not given.points.is_file():
        parser.error(f"no such file: {given.points}")
    if given.command == "measure":
        measure(given.points)
    else:
        calibrate(given.points, given.date)
    return 0


def measure(path: Path) -> None:
    """Print the errors of the present estimates of a file's points."""
    points, dropped = read_points(path)
    table = load_table("livefleet.pace", "calibrated.yaml")
    found = predict(_parameters(table), points)
    for (engine, device), errors in errors_of(points, found, table["ranges"]).items():
        print(  # noqa: T201 - the output
            f"{engine or 'all':13} {device:5} {errors.points:5} points; between tokens: median error "
            f"{errors.between:6.1%}, inside {errors.between_held:4.0%}; first token: {errors.first:6.1%}, "
            f"inside {errors.first_held:4.0%}"
        )
    for point, estimate in worst(points, found):
        print(  # noqa: T201
            f"worst: {point.title}: {point.between_ms:.4g} ms between tokens, estimated {estimate.between_ms:.4g}"
        )
    for reason, number in dropped.most_common():
        print(f"left out: {number} rows: {reason}")  # noqa: T201


def _parameters(table: Mapping[str, Any]) -> dict[str, float]:
    shared, engines = table["shared"], table["engines"]
    own = {f"{engine}.{name}": float(engines[engine][name]) for engine in ENGINES for name in OWN}
    return {name: float(shared[name]) for name in SHARED} | own


def calibrate(published: Path | None, date: str) -> None:
    """Fit the parameters, and write them, their ranges, the page and its pictures."""
    if published:
        write_points(read_points(published)[0], POINTS, SOURCE)
    points, _ = read_points(POINTS)
    others = read_benchmarks(BENCHMARKS, ENGINES)
    parameters = {name: float(f"{value:.3g}") for name, value in fit([*points, *others]).items()}
    folds = held_out(points, others)
    ranges = ranges_of(points, folds.predictions)
    PARAMETERS.write_text(parameter_file(parameters, folds.parameters, ranges, date), encoding="utf-8")
    present = predict(parameters, points)
    PAGE.write_text(page(points, present, folds, ranges, parameters, date), encoding="utf-8")
    for name, title, times in (
        ("speed-tokens", "Time between tokens in ms, estimated (upwards) against measured", _between),
        ("speed-first", "Time to the first token in ms, estimated (upwards) against measured", _first),
    ):
        picture = scatter(points, folds.predictions, title, times)
        (PICTURES / f"{name}.svg").write_text(picture, encoding="utf-8")


def _between(point: Point, estimate: Prediction) -> tuple[float, float]:
    return point.between_ms, estimate.between_ms


def _first(point: Point, estimate: Prediction) -> tuple[float, float]:
    return point.first_ms, estimate.first_ms


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
