"""The process is killed at any moment, and nothing that was acknowledged is lost."""
