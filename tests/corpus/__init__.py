"""Labelled cases for the rules of the ledger, written before the rules; see README.md here."""
