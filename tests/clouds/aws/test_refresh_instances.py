"""The tool that refreshes instance types and prices, on small copies of its sources."""

import csv
import gzip
import json
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest
from refresh_instances import main

# Rows of skypilot-org/skypilot-catalog at 00148f2a, catalogs/v8/aws/vms.csv.
CATALOG = """\
InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,Region,AvailabilityZone,Arch
a1.large,,,2.0,4.0,,0.051,0.038500,us-east-2,use2-az1,arm64
a1.large,,,2.0,4.0,,0.051,0.019000,us-east-2,use2-az2,arm64
a1.large,,,2.0,4.0,,0.0582,0.058200,eu-central-1,euc1-az2,arm64
hpc7g.4xlarge,,,16.0,128.0,,1.8059,,eu-west-1,euw1-az1,arm64
unheard.large,,,2.0,4.0,,1,0.5,eu-west-1,euw1-az1,arm64
"""
KARPENTER = """\
// generated at 2026-07-20T13:44:30Z for us-east-1
var InitialOnDemandPricesAWS = map[string]map[ec2types.InstanceType]float64{
\t// us-east-1
\t"us-east-1": {
\t\t// a1 family
\t\t"a1.large": 0.051000, "m5.large": 0.090000,
\t},
}
"""
GOV = KARPENTER.replace("us-east-1", "us-gov-west-1").replace("0.051000", "0.061000")


def described(name: str, arch: str, **further: Any) -> dict[str, Any]:
    """The part of EC2's answer that the tool reads."""
    return {
        "InstanceType": name,
        "VCpuInfo": {"DefaultVCpus": 2},
        "MemoryInfo": {"SizeInMiB": 4096},
        "ProcessorInfo": {"SupportedArchitectures": [arch]},
        "NetworkInfo": {
            "Ipv4AddressesPerInterface": 10,
            "NetworkCards": [{"NetworkCardIndex": 0, "MaximumNetworkInterfaces": 3}],
        },
        **further,
    }


ANSWER = [
    described("a1.large", "arm64"),
    described("hpc7g.4xlarge", "arm64"),
    described("m5.large", "x86_64"),
    described("c3.large", "x86_64", InstanceStorageInfo={"TotalSizeInGB": 32, "NvmeSupport": "unsupported"}),
    described("m5d.large", "x86_64", InstanceStorageInfo={"TotalSizeInGB": 75, "NvmeSupport": "required"}),
    described("mac2.metal", "arm64_mac"),
    described("g9.large", "x86_64", GpuInfo={"Gpus": []}),
]


def price_list(usd: dict[str, str]) -> str:
    rows = {name: {"Instance Type": name, "price": price} for name, price in usd.items()}
    return json.dumps({"manifest": {"hawkFilePublicationDate": "2025-04-04T22:41:22Z"}, "regions": {"Place": rows}})


def checkout(folder: Path, files: dict[str, str]) -> Path:
    """A Git checkout with files, committed on 2026-11-01."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    identity = {"GIT_AUTHOR_DATE": "2026-11-01T12:00:00Z", "GIT_COMMITTER_DATE": "2026-11-01T12:00:00Z"}
    names = ("-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false")
    for arguments in (("init", "-q"), ("add", "-A"), (*names, "commit", "-q", "-m", "data")):
        subprocess.run(("git", "-C", str(folder), *arguments), check=True, env={"PATH": "/usr/bin:/bin", **identity})
    return folder


@pytest.fixture
def sources(tmp_path: Path) -> dict[str, Path]:
    wheel = tmp_path / "moto-9.9.9-py3-none-any.whl"
    answer = gzip.compress(json.dumps({row["InstanceType"]: row for row in ANSWER}).encode())
    with zipfile.ZipFile(wheel, "w") as stream:
        info = zipfile.ZipInfo("moto/ec2/resources/instance_types.json.gz", (2026, 10, 27, 0, 0, 0))
        stream.writestr(info, answer)
    prices = "pkg/providers/pricing/zz_generated.pricing_aws"
    lists = {
        # The price of m5.large in us-east-1 has changed since.
        "data/ec2/us-east-1-ondemand.json": price_list({"a1.large": "0.0510000000", "m5.large": "0.0960000000"}),
        "data/ec2/eu-west-1-ondemand.json": price_list({"a1.large": "0.0576000000", "m5.large": "0.1070000000"}),
        "data/ec2/eu-west-1-previousgen-ondemand.json": "<Error/>",
        "data/ec2/us-east-1-atl-1-ondemand.json": price_list({"a1.large": "0.9"}),
    }
    advisor = {"spot_advisor": {"eu-west-1": {"Linux": {"a1.large": {"s": 60}, "m5.large": {"s": -62}}}}}
    # One checkout stands for all four.
    folder = checkout(
        tmp_path / "checkout",
        {
            **lists,
            f"{prices}.go": KARPENTER,
            f"{prices}_us_gov.go": GOV,
            "internal/spot/data/spot-advisor-data.json": json.dumps(advisor),
            "catalogs/v8/aws/vms.csv": CATALOG,
        },
    )
    return {"moto": wheel, **dict.fromkeys(("karpenter", "price-lists", "spot", "catalog"), folder)}


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    folder = tmp_path / "tables"
    (folder / "prices").mkdir(parents=True)
    (folder / "accelerated_instances.csv").write_text("instance_type\ng5.xlarge\n", encoding="utf-8")
    return folder


def refresh(sources: dict[str, Path], tables: Path, *names: str) -> int:
    """Run the tool with some of the sources, or flags."""
    arguments = ["--tables", str(tables)]
    for name in ("moto", *names):
        arguments += [name] if name.startswith("-") else [f"--{name}", str(sources[name])]
    return main(arguments)


def rows(path: Path) -> dict[str, dict[str, str]]:
    with path.open(encoding="utf-8") as stream:
        return {row["instance_type"]: row for row in csv.DictReader(stream)}


def test_types_and_prices_are_those_of_the_sources(
    sources: dict[str, Path], tables: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert refresh(sources, tables, "karpenter", "price-lists", "spot") == 0
    assert capsys.readouterr().err == "g9.large has accelerators and is not in accelerated_instances.csv\n"
    types = rows(tables / "general_instances.csv")
    assert list(types) == ["a1.large", "c3.large", "hpc7g.4xlarge", "m5.large", "m5d.large"]
    assert list(types["a1.large"].values()) == ["a1.large", "2", "4", "0", "0", "29", "arm64"]
    assert (types["c3.large"]["local_nvme_gb"], types["m5d.large"]["local_nvme_gb"]) == ("0", "75")
    prices = rows(tables / "prices/on_demand.csv")
    assert prices["a1.large"] == {
        "instance_type": "a1.large",
        "us-east-1": "0.051",
        "eu-west-1": "0.0576",
        "us-gov-west-1": "0.061",
    }
    assert (prices["m5.large"]["us-east-1"], prices["m5.large"]["eu-west-1"]) == ("0.09", "")
    assert rows(tables / "prices/spot.csv") == {"a1.large": {"instance_type": "a1.large", "eu-west-1": "60"}}
    with (tables / "sources.csv").open(encoding="utf-8") as stream:
        dates = {(row["table"], row["region"]): row["date"] for row in csv.DictReader(stream)}
    assert dates == {
        ("on-demand", "eu-west-1"): "2025-04-04",
        ("on-demand", "us-east-1"): "2026-07-20",
        ("on-demand", "us-gov-west-1"): "2026-07-20",
        ("spot", "eu-west-1"): "2026-11-01",
        ("types", ""): "2026-10-27",
    }


def test_a_catalog_has_all_prices_and_spot_over_its_zones(sources: dict[str, Path], tables: Path) -> None:
    assert refresh(sources, tables, "catalog") == 0
    prices = rows(tables / "prices/on_demand.csv")
    assert (prices["a1.large"]["us-east-2"], prices["a1.large"]["eu-central-1"]) == ("0.051", "0.0582")
    assert prices["hpc7g.4xlarge"]["eu-west-1"] == "1.8059"
    # The zones of us-east-2 cost 0.0385 and 0.019, on average 0.02875, which is 56.4 % of 0.051.
    spot = rows(tables / "prices/spot.csv")
    assert list(spot) == ["a1.large"]
    assert (spot["a1.large"]["us-east-2"], spot["a1.large"]["eu-central-1"]) == ("43.6", "0")
    assert "over all zones on 2026-11-01" in (tables / "sources.csv").read_text(encoding="utf-8")


def test_a_check_finds_differences_and_writes_nothing(
    sources: dict[str, Path], tables: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert refresh(sources, tables, "catalog", "--check") == 1
    assert not (tables / "sources.csv").exists()
    refresh(sources, tables, "catalog")
    assert refresh(sources, tables, "catalog", "--check") == 0
    (tables / "prices/spot.csv").write_text("instance_type\n", encoding="utf-8")
    capsys.readouterr()
    assert refresh(sources, tables, "catalog", "--check") == 1
    assert capsys.readouterr().out == "spot.csv differs\n"


def test_too_few_sources_are_a_usage_error(sources: dict[str, Path], tables: Path) -> None:
    with pytest.raises(SystemExit) as ended:
        refresh(sources, tables, "karpenter")
    assert ended.value.code == 2
