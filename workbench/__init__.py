"""The workbench tries the program out without a cloud account, a GPU or the Pulumi CLI."""
