"""What is wrong with a VariantAutoscaling, whoever sizes it (WVA spec 15)."""
