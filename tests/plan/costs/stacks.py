"""Bills of environments that are written down in a few lines."""

import datetime
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import yaml

from components.contract.problems import errors
from components.families import parse
from components.plan.costs.bill import Bill
from components.plan.costs.prices import OwnPrices
from components.plan.plan import Plan, plan
from components.plan.sections.costs import bill_of
from stacks.costs import infrastructure
from stacks.settings import Settings, from_config

TODAY = datetime.date(2026, 11, 22)
DEFAULTS = {
    key.removeprefix("inference-platform:"): facts["default"]
    for key, facts in yaml.safe_load((Path(__file__).parents[3] / "Pulumi.yaml").read_text())["config"].items()
    if "default" in facts
}
AWS: dict[str, Any] = {
    "cloud": "aws",
    "region": "us-east-1",
    "network": {"zones": ["us-east-1a", "us-east-1b"], "natGateways": "one"},
    "cluster": {"version": "1.35", "publicAccessCidrs": ["203.0.113.0/24"]},
}


def settings_of(values: Mapping[str, Any]) -> Settings:
    """Settings as a stack reads them."""
    config = {f"inference-platform:{key}": value for key, value in values.items()}
    return from_config(config, "example", defaults=DEFAULTS)


def planned(manifests: str, settings: Settings) -> Plan:
    """The plan of manifests, which must be sound."""
    found = plan(parse(manifests, "models.yaml"), settings.environment())
    assert [str(problem) for problem in errors(found.problems)] == []
    return found


def bill(
    manifests: str, values: Mapping[str, Any], own: OwnPrices | None = None, today: datetime.date = TODAY
) -> Bill:
    """What an environment costs."""
    settings = settings_of(values)
    return bill_of(planned(manifests, settings), own or OwnPrices(), infrastructure(settings, today))


def usd(text: str) -> Decimal:
    """An amount as documents write it."""
    return Decimal(text.replace(",", ""))
