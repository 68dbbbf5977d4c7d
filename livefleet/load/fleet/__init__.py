"""The side of the live fleet, where one answers: where its models are, and what it says of itself meanwhile."""
