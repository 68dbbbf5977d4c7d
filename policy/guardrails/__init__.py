"""Guardrails for stacks with models: pure checks, and a pack that hands them what Pulumi is about to do.

The pack stands alone: an organization publishes this folder and nothing else of the project, and its programs may be
in any language.
"""
