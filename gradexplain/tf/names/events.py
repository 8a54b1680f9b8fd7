"""Graphs as event files, which TensorBoard reads.

An event file is a sequence of records, each with its length and two checksums; a record is a protocol buffer. Both
formats are short enough to be written by hand, so that neither TensorFlow nor TensorBoard is needed to write one.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

_TYPES = {"float32": 1, "float64": 2, "int32": 3, "uint8": 4, "int16": 5, "int8": 6, "string": 7, "complex64": 8,
          "int64": 9, "bool": 10, "complex128": 18, "float16": 19}  # fmt: skip


def _table() -> tuple[int, ...]:
    """Castagnoli's polynomial, byte by byte (RFC 3720, appendix B.4)."""
    rows = []
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = (value >> 1) ^ (0x82F63B78 if value & 1 else 0)
        rows.append(value)
    return tuple(rows)


_TABLE = _table()


def checksum(data: bytes) -> int:
    """The masked CRC-32C that records carry.

    >>> hex(checksum(b"123456789"))
    '0xc78ab0e5'
    """
    value = 0xFFFFFFFF
    for byte in data:
        value = _TABLE[(value ^ byte) & 0xFF] ^ (value >> 8)
    value ^= 0xFFFFFFFF
    return (((value >> 15) | (value << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def record(data: bytes) -> bytes:
    """A record of an event file."""
    head = struct.pack("<Q", len(data))
    return head + struct.pack("<I", checksum(head)) + data + struct.pack("<I", checksum(data))


# Protocol buffers.


def _varint(value: int) -> bytes:
    out = bytearray()
    value &= 0xFFFFFFFFFFFFFFFF
    while value > 0x7F:
        out.append((value & 0x7F) | 0x80)
        value >>= 7
    return bytes((*out, value))


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, data: bytes | str) -> bytes:
    raw = data.encode() if isinstance(data, str) else data
    return _varint(field << 3 | 2) + _varint(len(raw)) + raw


def _entry(field: int, key: str, value: bytes) -> bytes:
    return _bytes(field, _bytes(1, key) + _bytes(2, value))


def _shape(shape: Sequence[int]) -> bytes:
    return b"".join(_bytes(2, _number(1, n)) for n in shape)


def _node(operation: Any) -> bytes:
    """A NodeDef: name, operation, inputs, and attributes with type, shapes and what it computes."""
    out = _bytes(1, operation.name) + _bytes(2, operation.type)
    out += b"".join(_bytes(3, t.name.removesuffix(":0")) for t in operation.inputs)
    for result in operation.outputs[:1]:
        out += _entry(5, "dtype", _number(6, _TYPES.get(result.dtype.name, 1)))
    shapes = b"".join(_bytes(5, _shape(t.shape)) for t in operation.outputs)
    out += _entry(5, "_output_shapes", _bytes(1, shapes))
    if operation.formula:
        out += _entry(5, "formula", _bytes(2, operation.formula))
    for name, value in operation.attributes.items():
        out += _entry(5, name, _number(5, int(value)))
    return out


def graph_def(operations: Sequence[Any]) -> bytes:
    """A GraphDef with these operations."""
    return b"".join(_bytes(1, _node(op)) for op in operations) + _bytes(4, _number(1, 2271))


def _events(operations: Sequence[Any], now: float) -> Iterator[bytes]:
    stamp = _varint(1 << 3 | 1) + struct.pack("<d", now)
    yield stamp + _bytes(3, "brain.Event:2")
    yield stamp + _bytes(4, graph_def(operations))


def write(operations: Sequence[Any], directory: str | Path) -> Path:
    """Writes an event file with a graph into a directory of logs; gives its path."""
    now, folder = time.time(), Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"events.out.tfevents.{int(now)}.gradexplain"
    path.write_bytes(b"".join(record(event) for event in _events(operations, now)))
    return path
