"""The APIs that engines have of their own."""
