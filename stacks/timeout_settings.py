"""Settings of the timeouts of a stack."""

from components.plan.sections.timeouts import FleetTimeoutSettings
from components.resources.aws.timeout_settings import AwsTimeoutSettings


class TimeoutSettings(AwsTimeoutSettings, FleetTimeoutSettings):
    """How long an update waits for single resources before it fails, instead of the computed times."""
