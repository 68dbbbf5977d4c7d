"""What the container of an InferenceService is started with."""
