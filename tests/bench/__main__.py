"""All benchmarks: `make bench`."""

from __future__ import annotations

from tests.bench import dashboard, engine, hook, stream

if __name__ == "__main__":
    stream.main()
    engine.main()
    hook.main()
    dashboard.main()
