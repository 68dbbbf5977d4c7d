"""The controller of VariantAutoscalings: what it reads, and what runs it, as plain objects (WVA spec 4, 6)."""
