"""The registry of rules: what each finding means, how it is ignored, and SARIF."""
