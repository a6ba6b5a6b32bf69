"""All benchmarks: `make bench`."""

from __future__ import annotations

from tests.bench import dashboard, engine, history, hook, keys, store, stream, trust

if __name__ == "__main__":
    trust.main()
    stream.main()
    engine.main()
    keys.times()
    hook.main()
    dashboard.main()
    store.main()
    history.main()
