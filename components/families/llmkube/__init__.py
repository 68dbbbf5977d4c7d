"""LLMKube: Model and InferenceService."""
