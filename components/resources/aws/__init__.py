"""The components on AWS, on plain pulumi_aws."""
