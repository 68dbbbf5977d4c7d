"""Whether the messages of Envoy's protocol are installed, without loading protobuf."""

import importlib.util

from toolkit.errors import UserError


def check_messages() -> None:
    """Check that xds-protos is installed.

    Raises:
        UserError: it is missing.
    """
    if importlib.util.find_spec("envoy") is None:
        raise UserError("it needs xds-protos: pip install 'inference-platform[gateway]'")
