from __future__ import annotations

from tests.ui.example import blank, example, live_server
from tests.ui.stage import stage


async def test_a_dump_file_is_no_session() -> None:
    view = blank(interval=0, topics=example().topics, findings=12, completed=40)
    async with stage(view, server=live_server(state="file", delivery="none"), read_only=True) as play:
        text = play.text()
        assert text.count("A dump file holds no ") == 3
        assert "watching  12 facts in this file" in text
        for word in ("0 of 0", "idle", "next is due", "40 done", "0 tok", "nothing looked at twice"):
            assert word not in text
        assert "extract now" not in play.footer() and "undo" not in play.footer() and "open" in play.footer()


async def test_a_small_screen_begins_with_the_facts() -> None:
    view = blank(interval=0, topics=example().topics, findings=12)
    for size, word in (((60, 20), "model.ckpt has no header"), ((80, 24), "not in a dump file")):
        async with stage(view, server=live_server(state="file"), read_only=True, size=size) as play:
            assert word in play.text()
