"""The prometheus-adapter chart's ``rules``, as the program reads them."""

from collections.abc import Mapping
from typing import Any

from toolkit.errors import UserError

from ..fleet import Object


def adapter_config(rules: Mapping[str, Any]) -> Object:
    """Return the adapter's config file for the chart value ``rules``, as the chart's ConfigMap template makes it.

    Raises:
        UserError: the rules rely on something that only the chart has: its default rules, or another ConfigMap.
    """
    if rules.get("default", True):
        raise UserError("rules.default is true unless set to false, and the chart's default rules are not known here")
    if rules.get("existing"):
        raise UserError("rules.existing replaces all rules by a ConfigMap that is not known here")
    unknown = rules.keys() - {"default", "existing", "custom", "external", "resource"}
    if unknown:
        raise UserError(f"the chart knows no rules.{', rules.'.join(sorted(unknown))}")
    config: Object = {}
    for value, key in (("custom", "rules"), ("external", "externalRules"), ("resource", "resourceRules")):
        if rules.get(value):
            config[key] = rules[value]
    return config
