"""The terminal dashboard and the command line of ledger-tui."""
