"""The program: how it is run without the Pulumi CLI, and what it registers."""
