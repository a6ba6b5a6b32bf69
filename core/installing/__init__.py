"""What OpenCode needs from the ledger, put into place and taken away again: a plugin and an agent's file.

Nothing else is written: every generated file says so itself in its mark (:mod:`core.installing.marks`), so that edits
are recognised, and what is not ours is never touched.
"""
