"""Event files: the format by hand, and what TensorBoard reads of them."""

from __future__ import annotations

import struct

import pytest

from gradexplain import tf
from gradexplain.tf.names.events import checksum, record


@tf.function
def slope(x):
    with tf.GradientTape() as tape:
        y = x**2
    return tape.gradient(y, x)


def graph():
    return slope.get_concrete_function(tf.Variable(3.0)).graph


def test_checksum():
    assert checksum(b"\x00" * 32) == (((0x8A9136AA >> 15) | (0x8A9136AA << 17)) + 0xA282EAD8) & 0xFFFFFFFF  # RFC 3720


def test_records_have_length_and_checksums():
    data = record(b"abc")
    (length,) = struct.unpack("<Q", data[:8])
    assert length == 3
    assert len(data) == 8 + 4 + 3 + 4


def test_the_file_names_the_operations(tmp_path):
    content = graph().save(tmp_path).read_bytes()
    assert b"gradient_tape/pow/mul_1" in content
    assert b"brain.Event:2" in content


def test_tensorboard_reads_the_graph(tmp_path):
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    graph().save(tmp_path)
    events = accumulator.EventAccumulator(str(tmp_path))
    events.Reload()
    nodes = {n.name: n for n in events.Graph().node}
    assert len(nodes) == len(graph().get_operations())
    assert nodes["gradient_tape/pow/mul_1"].op == "Mul"
    assert list(nodes["gradient_tape/pow/mul_1"].input) == ["gradient_tape/pow/mul", "gradient_tape/pow/Pow"]
    assert nodes["pow"].attr["formula"].s == b"ReadVariableOp**2"
