"""First bytes in hexadecimal dumps."""

from __future__ import annotations

import pytest

from tests.unit.ledger.rules.builders import facts, found


@pytest.mark.parametrize(
    ("command", "output", "expected"),
    [
        (
            "xxd model.gguf | head -1",
            "00000000: 4747 5546 0300 0000 2301 0000 0000 0000  GGUF....#.......",
            'model.gguf starts with the bytes 4747 5546 0300 0000 2301 0000 0000 0000 ("GGUF").',
        ),
        ("xxd -l 4 -g 1 a.bin", "00000000: 89 50 4e 47  .PNG", 'a.bin starts with the bytes 89 50 4e 47 ("PNG").'),
        ("head -c 4 a.bin | xxd", "00000000: 8950 4e47  .PNG", 'a.bin starts with the bytes 8950 4e47 ("PNG").'),
        ("xxd -p a.bin | head -1", "89504e470d0a1a0a", "a.bin starts with the bytes 89504e470d0a1a0a."),
        (
            "hexdump -C -n 8 a.so",
            "00000000  7f 45 4c 46 02 01 01 00  |.ELF....|\n00000008",
            'a.so starts with the bytes 7f 45 4c 46 02 01 01 00 ("ELF").',
        ),
        (
            "hexdump a.so | head -1",
            "0000000 457f 464c 0102 0001 0000 0000 0000 0000",
            "a.so starts with the 16-bit words (as hexdump shows them) 457f 464c 0102 0001 0000 0000 0000 0000.",
        ),
        (
            "od -A x -t x1z -N 4 a.bin",
            "000000 1f 8b 08 00  >....<\n000004",
            "a.bin starts with the bytes 1f 8b 08 00.",
        ),
        ("od -An -tx1 -N4 a.bin", " 1f 8b 08 00", "a.bin starts with the bytes 1f 8b 08 00."),
        ("hexdump -n 4 -e '4/1 \"%02x\"' a.bin", "1f8b0800", "a.bin starts with the bytes 1f8b0800."),
    ],
)
def test_first_bytes(command: str, output: str, expected: str) -> None:
    assert facts(command, output) == [expected]


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("xxd -s 16 a.bin", "00000010: 0c00 0000  ...."),
        ("xxd -s 0x0 a.bin", "00000000: 0c00 0000  ...."),
        ("xxd a.bin | tail -1", "00000010: 0c00 0000  ...."),
        ("xxd -p a.bin | tail -1", "0c000000"),
        ("tail -c 16 a.bin | xxd", "00000000: 0c00 0000  ...."),
        ("head -n 1 a.bin | xxd", "00000000: 0c00 0000  ...."),
        ("dd if=a.bin bs=1 skip=4 | xxd", "00000000: 0c00 0000  ...."),
        ("echo hi | xxd", "00000000: 6869 0a  hi."),
        ("xxd <<< hi", "00000000: 6869 0a  hi."),
        ("cat dump.txt", "00000000: 6869 0a  hi."),
        ("xxd -b a.bin", "00000000: 01101000 01101001  hi"),
        ("xxd -r a.hex", "00000000: 6869 0a"),
        ("xxd -e a.bin", "00000000: 64636261  abcd"),
        ("hexdump -e '4/4 \"%08x\"' a.bin", "1f8b0800"),
        ("hexdump -C -s 512 a.so", "00000200  00 00 00 00"),
        ("od a.bin", "0000000 042577 043114"),
        ("xxd missing.bin", "xxd: missing.bin: No such file or directory"),
        ("xxd a.bin a.hex", "00000000: 6869 0a"),
        ("xxd $f", "00000000: 6869 0a"),
    ],
)
def test_not_the_beginning_of_a_file(command: str, output: str) -> None:
    assert facts(command, output) == []


def test_receipt() -> None:
    [one] = found("xxd -l 4 w/a.bin", "\n00000000: 8950 4e47  .PNG\n")
    assert (one.topic, one.lines, one.rule) == ("file-format:a.bin", (2,), "magic")
