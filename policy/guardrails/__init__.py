"""Guardrails for stacks that serve models: pure checks, and a policy pack that runs them on Pulumi's resources.

The pack is self-contained: an organization publishes this folder without the rest of the project, and may apply it to
programs in any language.
"""
