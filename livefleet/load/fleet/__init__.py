"""The live fleet under load: where its models are served, and its state during the load."""
