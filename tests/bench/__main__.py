"""All benchmarks: `make bench`."""

from __future__ import annotations

from tests.bench import dashboard, engine, stream

if __name__ == "__main__":
    stream.main()
    engine.main()
    dashboard.main()
