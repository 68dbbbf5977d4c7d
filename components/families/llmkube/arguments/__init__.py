"""The start command of an InferenceService's container, by runtime."""
