"""The controller of VariantAutoscalings as plain objects: its ConfigMaps and its deployment (WVA spec 4, 6)."""
