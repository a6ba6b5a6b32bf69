"""From the steps of an agent to candidate findings, by way of a model."""
