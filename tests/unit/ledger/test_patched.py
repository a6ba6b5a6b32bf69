from __future__ import annotations

from core.ledger.patched import MAX_FILES, patched_files

OWN = """*** Begin Patch
*** Update File: src/a.rs
*** Move to: src/b c.rs
@@
-mod a;
+mod b; // *** not a header
*** Add File: new.txt
+hello
*** Delete File: old.txt
*** End Patch"""

UNIFIED = """--- a/src/a.rs\t2026-01-01
+++ b/src/a.rs\t2026-01-02
@@ -1 +1 @@
-a
+b
--- /dev/null
+++ b/new.txt
"""


def test_each_file_of_a_patch_is_named_once() -> None:
    assert patched_files(OWN) == ("src/a.rs", "src/b c.rs", "new.txt", "old.txt")
    assert patched_files(OWN.replace("\n", "\r\n")) == patched_files(OWN)


def test_unified_diffs_are_read_too() -> None:
    assert patched_files(UNIFIED) == ("src/a.rs", "new.txt")


def test_other_texts_are_no_patches() -> None:
    assert patched_files("") == patched_files("see *** Update File: a") == ()


def test_the_files_of_a_patch_are_bounded() -> None:
    assert len(patched_files("\n".join(f"*** Add File: {n}" for n in range(MAX_FILES + 5)))) == MAX_FILES
