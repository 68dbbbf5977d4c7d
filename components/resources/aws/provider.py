"""The AWS provider, for programs that create several components with it."""

from collections.abc import Sequence

import pulumi
import pulumi_aws


def aws_provider(
    name: str, region: str, *, allowed_account_ids: Sequence[str] = (), profile: str = "", role_arn: str = ""
) -> pulumi.ProviderResource:
    """Create a provider for a region. Credentials come from the environment, as for the AWS CLI.

    Args:
        name: Logical name.
        region: AWS region.
        allowed_account_ids: Accounts that it may use; with credentials of another account it fails before any
            change.
        profile: AWS CLI profile with the credentials.
        role_arn: IAM role to assume with these credentials.
    """
    roles = [pulumi_aws.ProviderAssumeRoleArgs(role_arn=role_arn)] if role_arn else None
    return pulumi_aws.Provider(
        name,
        region=region,
        allowed_account_ids=list(allowed_account_ids) or None,
        profile=profile or None,
        assume_roles=roles,
    )
