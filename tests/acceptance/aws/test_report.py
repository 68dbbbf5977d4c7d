"""The report of the acceptance test can be posted."""

import json
from pathlib import Path

import pytest
from acceptance.report import AcceptanceReport, StepResult, redacted

SECRET = "123456789012"


@pytest.mark.parametrize(
    ("text", "without"),
    [
        ("arn:aws:iam::123456789012:role/deploy", "arn:aws:iam::<account>:role/deploy"),
        ("from 198.51.100.7/32 and 10.0.1.2", "from <address> and <address>"),
        ("at internal-k8s-1.elb.us-east-1.amazonaws.com", "at <host>"),
        ("https://ABCD.gr7.us-east-1.eks.amazonaws.com", "https://<host>"),
        ("i-0123456789abcdef0 in vpc-0a1b2c3d", "i-<id> in vpc-<id>"),
        ("AKIAIOSFODNN7EXAMPLE", "<key>"),
        ("see /home/someone/run/report.md", "see <folder>/report.md"),
        ("models/chat changed, 12 Deployments did not", "models/chat changed, 12 Deployments did not"),
        ("image release 1.35.7-20260801", "image release 1.35.7-20260801"),
    ],
)
def test_what_identifies_an_account_is_replaced(text: str, without: str) -> None:
    assert redacted(text) == without


def test_both_forms_are_redacted_and_say_the_same(tmp_path: Path) -> None:
    results = [
        StepResult("create", passed=True, seconds=1800, detail="ready"),
        StepResult("destroy", passed=False, seconds=60, detail=f"account {SECRET} | refused\nagain"),
    ]
    report = AcceptanceReport("us-east-1", {"pulumi": "v3.272.0"}, results, 7.254)
    report.write(tmp_path)
    stored = json.loads((tmp_path / "report.json").read_text())
    text = (tmp_path / "report.md").read_text()
    assert SECRET not in json.dumps(stored) + text
    assert (report.passed, stored["passed"], stored["usdAtMost"]) == (False, False, 7.25)
    assert "| create | passed | 30.0 | ready |" in text
    assert "| destroy | failed | 1.0 | account <account> \\| refused again |" in text
    assert text.startswith("# Acceptance on AWS: failed\n")
