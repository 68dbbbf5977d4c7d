"""llmaz: OpenModel, Playground, Service and BackendRuntime."""
