"""Checks of VariantAutoscalings that apply to both realizations (WVA spec 15)."""
