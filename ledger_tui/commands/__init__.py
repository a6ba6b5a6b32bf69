"""The sub-commands, one module each: `HELP`, `EXAMPLES`, `arguments(parser)` and `run(args)`.

Such a module imports what its work needs when it runs, not before: `--help` and a wrong flag are answered at once.
"""
