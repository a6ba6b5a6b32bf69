"""What works, what does not, and what to do about it: independent checks, each bounded in time, one line each."""
