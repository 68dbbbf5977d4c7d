"""LLMKube's InferenceServices: the objects that its operator would make, without the operator."""
