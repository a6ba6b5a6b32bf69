"""Everything of ledger-tui that is not a screen; imports without Textual."""
