"""Refresh the tables of EC2 instance types and their prices from public sources.

    python tools/refresh_instances.py --moto WHEEL --karpenter FOLDER --price-lists FOLDER --spot FOLDER
    python tools/refresh_instances.py --moto WHEEL --catalog FOLDER
    python tools/refresh_instances.py --check ...

WHEEL is a wheel of moto (``pip download --no-deps moto``), which contains an answer of EC2's DescribeInstanceTypes.
Each FOLDER is a Git checkout, whose commit and date become those of the prices:

``--karpenter``: aws/karpenter-provider-aws, with on-demand prices in us-east-1 and in GovCloud.
``--price-lists``: yeo/ec2.shop, with AWS's price lists of all other regions. They may be older: a type is taken only
if its price in us-east-1 has not changed since.
``--spot``: alexei-led/spotinfo, with the data of AWS's Spot Instance Advisor.
``--catalog``: skypilot-org/skypilot-catalog, with prices of all regions, on demand and spot by zone. They replace
those of the other sources.

Only facts are taken: names, sizes and prices. Accelerated types are not written, because EC2's answer lacks how many
of their accelerators pods can request; those that ``accelerated_instances.csv`` does not have are printed. Types that
run only macOS cannot be nodes and are left out.

Exit codes: 0 success, 1 with ``--check``, the tables differ from the sources, 2 usage error.
"""

import argparse
import csv
import datetime
import gzip
import io
import json
import re
import subprocess
import sys
import zipfile
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any, NamedTuple

TABLES = Path(__file__).parents[1] / "components" / "clouds" / "aws"
HOME = "us-east-1"
TYPE_COLUMNS = ("instance_type", "vcpu", "memory_gib", "efa_interfaces", "local_nvme_gb", "eni_pods", "arch")
SOURCE_COLUMNS = ("table", "region", "date", "source", "average")
_MOTO_TYPES = "moto/ec2/resources/instance_types.json.gz"
_KARPENTER = "pkg/providers/pricing/zz_generated.pricing_aws{}.go"
_CATALOG = "catalogs/v8/aws/vms.csv"
_ADVISOR = "internal/spot/data/spot-advisor-data.json"
_ARCHITECTURES = {"x86_64": "amd64", "arm64": "arm64"}
_ACCELERATED = ("GpuInfo", "InferenceAcceleratorInfo", "NeuronInfo")
_ACCELERATED_FAMILY = re.compile(r"(dl|g|gr|inf|p|trn)\d")
"""EC2 does not describe the accelerators of some types, such as trn2u.48xlarge."""
_REGION = re.compile(r"[a-z]{2}(-gov)?-[a-z]+-\d")
_GO_PRICE = re.compile(r'"([a-z0-9-]+\.[a-z0-9-]+)": ([0-9.]+)')
_GO_REGION = re.compile(r'^\t"([a-z0-9-]+)": \{', re.MULTILINE)
_GO_DATE = re.compile(r"generated at (\d{4}-\d\d-\d\d)")

Prices = dict[str, dict[str, Decimal]]
"""US dollars per hour by region and instance type."""


class TableSource(NamedTuple):
    """Where the cells of a table and region are from; ``average`` is what a spot price is the average of."""

    date: str
    source: str
    average: str = ""


class Tables(NamedTuple):
    """The contents of the tables."""

    types: list[dict[str, str]]
    on_demand: Prices
    spot: Prices
    """Percent saved over on demand, by region and instance type."""
    sources: dict[tuple[str, str], TableSource]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--moto", type=Path, required=True, metavar="WHEEL", help="wheel of moto")
    for name in ("karpenter", "price-lists", "spot", "catalog"):
        parser.add_argument(f"--{name}", type=Path, metavar="FOLDER", help="Git checkout; see the top of this file")
    parser.add_argument("--check", action="store_true", help="compare only; exit with 1 on a difference")
    parser.add_argument(
        "--tables", type=Path, default=TABLES, help="folder of the tables; by default this checkout's"
    )
    options = parser.parse_args(arguments)
    if options.catalog is None and None in (options.karpenter, options.price_lists, options.spot):
        parser.error("name --catalog, or all of --karpenter, --price-lists and --spot")
    found = read(options)
    for name in unlisted(options.moto, options.tables):
        sys.stderr.write(f"{name} has accelerators and is not in accelerated_instances.csv\n")
    return write(found, options.tables, check=options.check)


def read(options: argparse.Namespace) -> Tables:
    """Return the contents of the tables."""
    types, day = _types(options.moto)
    version = options.moto.name.split("-")[1]
    names = {row["instance_type"] for row in types} | accelerated(options.tables)
    sources = {
        ("types", ""): TableSource(day, f"EC2's answer to DescribeInstanceTypes, in moto {version} ({_MOTO_TYPES})")
    }
    on_demand: Prices = {}
    saved: Prices = {}
    if options.karpenter:
        _add_karpenter(options.karpenter, on_demand, sources)
    if options.price_lists:
        _add_price_lists(options.price_lists, on_demand, sources)
    if options.spot:
        _add_advisor(options.spot, saved, sources)
    if options.catalog:
        _add_catalog(options.catalog, on_demand, saved, sources)
    known = {region: _only(prices, names) for region, prices in sorted(on_demand.items())}
    return Tables(types, known, {region: _only(row, names) for region, row in sorted(saved.items())}, sources)


def accelerated(tables: Path) -> set[str]:
    """Return the accelerated types that the tables have."""
    with (tables / "accelerated_instances.csv").open(encoding="utf-8") as stream:
        return {row["instance_type"] for row in csv.DictReader(stream)}


def unlisted(moto: Path, tables: Path) -> list[str]:
    """Return the types with accelerators that the tables lack."""
    described, _ = _described(moto)
    with_some = {name for name, row in described.items() if _has_accelerators(name, row)}
    return sorted(with_some - accelerated(tables))


def _described(moto: Path) -> tuple[dict[str, Any], str]:
    with zipfile.ZipFile(moto) as wheel:
        day = datetime.date(*wheel.getinfo(_MOTO_TYPES).date_time[:3]).isoformat()
        answer: dict[str, Any] = json.loads(gzip.decompress(wheel.read(_MOTO_TYPES)))
    return answer, day


def _types(moto: Path) -> tuple[list[dict[str, str]], str]:
    """Return the rows of general-purpose types, and the date of the answer."""
    described, day = _described(moto)
    rows = []
    for name, row in sorted(described.items(), key=lambda item: _by_size(item[0], item[1])):
        archs = [
            _ARCHITECTURES[arch] for arch in row["ProcessorInfo"]["SupportedArchitectures"] if arch in _ARCHITECTURES
        ]
        if not archs or _has_accelerators(name, row):
            continue
        network, disks = row["NetworkInfo"], row.get("InstanceStorageInfo", {})
        memory = Decimal(row["MemoryInfo"]["SizeInMiB"]) / 1024
        values = (
            name,
            row["VCpuInfo"]["DefaultVCpus"],
            f"{memory.normalize():f}",
            network.get("EfaInfo", {}).get("MaximumEfaInterfaces", 0),
            disks.get("TotalSizeInGB", 0) if disks.get("NvmeSupport") == "required" else 0,
            _pods(network),
            archs[0],
        )
        rows.append(dict(zip(TYPE_COLUMNS, map(str, values), strict=True)))
    return rows, day


def _has_accelerators(name: str, row: Mapping[str, Any]) -> bool:
    return any(key in row for key in _ACCELERATED) or _ACCELERATED_FAMILY.match(name) is not None


def _by_size(name: str, row: Mapping[str, Any]) -> tuple[str, int, int, str]:
    return name.partition(".")[0], row["VCpuInfo"]["DefaultVCpus"], row["MemoryInfo"]["SizeInMiB"], name


def _pods(network: Mapping[str, Any]) -> int:
    """Return the pods that the interfaces have addresses for, as awslabs/amazon-eks-ami counts them.

    Each interface of the default network card has one address for itself; two pods use the node's address.
    """
    default = network.get("DefaultNetworkCardIndex", 0)
    card = next(card for card in network["NetworkCards"] if card["NetworkCardIndex"] == default)
    return int(card["MaximumNetworkInterfaces"]) * (int(network["Ipv4AddressesPerInterface"]) - 1) + 2


def _only(prices: Mapping[str, Decimal], names: set[str]) -> dict[str, Decimal]:
    return {name: usd for name, usd in prices.items() if name in names}


def _commit(folder: Path, path: str) -> tuple[str, str]:
    """Return the commit of a checkout, and the day of the last change of a path."""

    def git(*arguments: str) -> str:
        return subprocess.run(
            ("git", "-C", str(folder), *arguments), check=True, capture_output=True, text=True
        ).stdout

    return git("rev-parse", "--short=8", "HEAD").strip(), git("log", "-1", "--format=%as", "--", path).strip()


def _add_karpenter(folder: Path, on_demand: Prices, sources: dict[tuple[str, str], TableSource]) -> None:
    for suffix in ("", "_us_gov"):
        path = _KARPENTER.format(suffix)
        commit, _ = _commit(folder, path)
        text = (folder / path).read_text(encoding="utf-8")
        generated = _GO_DATE.search(text)
        if generated is None:
            raise SystemExit(f"{path} has no date")
        address = f"https://github.com/aws/karpenter-provider-aws/blob/{commit}/{path}"
        starts = list(_GO_REGION.finditer(text))
        for start, end in zip(starts, [*(later.start() for later in starts[1:]), len(text)], strict=True):
            region = start[1]
            on_demand[region] = {m[1]: Decimal(m[2]) for m in _GO_PRICE.finditer(text, start.end(), end)}
            sources["on-demand", region] = TableSource(generated[1], address)


def _add_price_lists(folder: Path, on_demand: Prices, sources: dict[tuple[str, str], TableSource]) -> None:
    lists: Prices = defaultdict(dict)
    dates: dict[str, str] = {}
    commit, _ = _commit(folder, "data/ec2")
    for kind in ("ondemand", "previousgen-ondemand"):
        for path in sorted((folder / "data/ec2").glob(f"*-{kind}.json")):
            region = path.name.removesuffix(f"-{kind}.json")
            if not _REGION.fullmatch(region):
                continue
            text = path.read_text(encoding="utf-8")
            if not text.startswith("{"):
                # Regions without types of previous generations have no such list, and the mirror kept the error.
                continue
            content = json.loads(text)
            day = content["manifest"]["hawkFilePublicationDate"][:10]
            dates[region] = min(day, dates.get(region, day))
            for row in (row for place in content["regions"].values() for row in place.values()):
                lists[region][row["Instance Type"]] = Decimal(row["price"])
    current, before = on_demand[HOME], lists.pop(HOME)
    unchanged = {name for name, usd in before.items() if current.get(name) == usd}
    for region, prices in lists.items():
        if region in on_demand:
            continue
        on_demand[region] = _only(prices, unchanged)
        address = f"https://github.com/yeo/ec2.shop/blob/{commit}/data/ec2/{region}-ondemand.json"
        sources["on-demand", region] = TableSource(dates[region], f"AWS price list, in {address}")


def _add_advisor(folder: Path, saved: Prices, sources: dict[tuple[str, str], TableSource]) -> None:
    commit, day = _commit(folder, _ADVISOR)
    content = json.loads((folder / _ADVISOR).read_text(encoding="utf-8"))
    address = f"https://github.com/alexei-led/spotinfo/blob/{commit}/{_ADVISOR}"
    for region, systems in content["spot_advisor"].items():
        # Below zero, the discount is on an on-demand price that AWS has lowered since.
        saved[region] = {name: Decimal(row["s"]) for name, row in systems["Linux"].items() if row["s"] >= 0}
        text = f"AWS Spot Instance Advisor, in {address}"
        sources["spot", region] = TableSource(day, text, f"over 30 days until {day}")


def _add_catalog(folder: Path, on_demand: Prices, saved: Prices, sources: dict[tuple[str, str], TableSource]) -> None:
    commit, day = _commit(folder, _CATALOG)
    address = f"https://github.com/skypilot-org/skypilot-catalog/blob/{commit}/{_CATALOG}"
    full: Prices = defaultdict(dict)
    zones: dict[tuple[str, str], list[Decimal]] = defaultdict(list)
    with (folder / _CATALOG).open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            name, region = row["InstanceType"], row["Region"]
            if row["Price"]:
                full[region][name] = Decimal(row["Price"])
            if row["SpotPrice"]:
                zones[region, name].append(Decimal(row["SpotPrice"]))
    percent: Prices = defaultdict(dict)
    for (region, name), prices in zones.items():
        usd = full[region].get(name)
        if usd:
            # Spot never costs more than on demand, but a zone's price may be a few minutes older.
            mean = min(sum(prices, Decimal(0)) / len(prices), usd)
            percent[region][name] = (100 - 100 * mean / usd).quantize(Decimal("0.1"), ROUND_HALF_UP)
    for region in full:
        on_demand[region] = full[region]
        sources["on-demand", region] = TableSource(day, address)
    for region in percent:
        saved[region] = percent[region]
        sources["spot", region] = TableSource(day, address, f"over all zones on {day}")


def write(found: Tables, folder: Path, *, check: bool) -> int:
    """Write the tables, or with ``check`` compare them only."""
    order = [row["instance_type"] for row in found.types]
    order += sorted(accelerated(folder))
    contents = {
        folder / "general_instances.csv": _csv(TYPE_COLUMNS, (tuple(row.values()) for row in found.types)),
        folder / "prices" / "on_demand.csv": _matrix(found.on_demand, order),
        folder / "prices" / "spot.csv": _matrix(found.spot, order),
        folder / "sources.csv": _csv(SOURCE_COLUMNS, ((*key, *found.sources[key]) for key in sorted(found.sources))),
    }
    different = []
    for path, text in contents.items():
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        different.append(path.name)
        if not check:
            path.write_text(text, encoding="utf-8")
    for name in different:
        sys.stdout.write(f"{name} {'differs' if check else 'written'}\n")
    return int(check and bool(different))


def _matrix(prices: Prices, names: Iterable[str]) -> str:
    """Return one row per type and one column per region; an empty cell is an unknown price."""
    regions = sorted(prices, key=lambda region: (region != HOME, region))
    rows = ((name, *(_cell(prices[region].get(name)) for region in regions)) for name in names)
    return _csv(("instance_type", *regions), (row for row in rows if any(row[1:])))


def _cell(value: Decimal | None) -> str:
    return "" if value is None else f"{value.normalize():f}"


def _csv(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()


if __name__ == "__main__":
    sys.exit(main())
