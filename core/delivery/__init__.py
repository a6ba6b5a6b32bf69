"""Getting a note in front of the agent, and knowing whether it arrived."""
