"""The workbench: try a stack without a cloud account, a GPU or the Pulumi CLI."""
