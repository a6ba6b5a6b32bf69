"""What is kept outside memory: the dump file and the ids of our own sessions."""
