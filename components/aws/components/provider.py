"""The provider of AWS, for programs that register several components with it."""

import pulumi
import pulumi_aws


def aws_provider(name: str, region: str) -> pulumi.ProviderResource:
    """Register a provider for a region; credentials come from the environment, as AWS' own tools take them."""
    return pulumi_aws.Provider(name, region=region)
