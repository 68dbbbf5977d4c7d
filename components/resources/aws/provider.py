"""The provider of AWS, for programs that register several components with it."""

from collections.abc import Sequence

import pulumi
import pulumi_aws


def aws_provider(
    name: str, region: str, *, allowed_account_ids: Sequence[str] = (), profile: str = "", role_arn: str = ""
) -> pulumi.ProviderResource:
    """Register a provider for a region; credentials come from the environment, as AWS' own tools take them.

    Args:
        name: Logical name.
        region: AWS region.
        allowed_account_ids: Accounts in which it may work: in any other it stops before it does anything.
        profile: Profile of AWS' own tools to take credentials from.
        role_arn: Role to take with these credentials.
    """
    roles = [pulumi_aws.ProviderAssumeRoleArgs(role_arn=role_arn)] if role_arn else None
    return pulumi_aws.Provider(
        name,
        region=region,
        allowed_account_ids=list(allowed_account_ids) or None,
        profile=profile or None,
        assume_roles=roles,
    )
