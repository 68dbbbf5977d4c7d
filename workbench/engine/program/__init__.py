"""Running the Pulumi program without the Pulumi CLI, and collecting its resources."""
