"""The ledger itself: pure, no I/O, no clock. Start at :mod:`core.ledger.engine`."""
