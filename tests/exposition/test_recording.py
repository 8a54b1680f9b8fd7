"""What a tape knows decides why a derivative is None: the first of the rows that fits."""

import pytest

from gradexplain.errors import Place
from gradexplain.exposition.model import Waypoint
from gradexplain.exposition.recording import Cut, Missing, none

HERE = Place("model.py", 3, "loss", "y = tf.argmax(x)")
THERE = Place("model.py", 9, "loss", "g = tape.gradient(y, x)")
PATH = (Waypoint("x", 1.0), Waypoint("u = 2*x", 2.0, 2.0))


@pytest.mark.parametrize(
    ("missing", "code"),
    [
        # An integer is the reason even if nobody watched it.
        (Missing("a", dtype="int32", value=3, is_floating=False, is_watched=False), "integer-dtype"),
        # A Variable that the tape did not see is not a constant: the target was made elsewhere.
        (Missing("w", is_variable=True, is_watched=False, unrecorded="tf.square(w)"), "not-recording"),
        (Missing("w", is_variable=True, is_watched=False, is_read=False), "unused"),
        # Where the source was not watched there is no record of a cut.
        (Missing("x", is_watched=False, is_literal=True), "not-watched"),
        (Missing("x", is_watched=False, is_made_before=True, computed_by="tf.cast(x)"), "computed-copy"),
        # A path that ends is more than an argument that is not read.
        (Missing("x", is_read=False, cut=Cut("stopped", "tf.stop_gradient(u)")), "stopped"),
        (Missing("x", is_gradient=True, is_recorded=False, is_literal=True), "gradient-not-recorded"),
        (Missing("x", cut=Cut("no-rule", "no rule for MaxPoolGrad", fix="give one with custom_gradient")), "no-rule"),
        (Missing("x", cut=Cut("flat", "round(x)")), "flat-only"),
    ],
)
def test_the_first_reason_counts(missing, code):
    assert none(missing).code == code


def test_the_path_ends_where_it_is_cut():
    found = none(Missing("x", "y", PATH, cut=Cut("integer", "tf.argmax(u)", HERE, dtype="int64")))
    assert [(w.text, w.is_culprit) for w in found.path] == [("x", False), ("u = 2*x", True)]
    assert (found.place, found.argument, found.factor) == (HERE, "x", "0")
    assert found.text == "the path from x ends at tf.argmax(u), whose result has the dtype int64"


def test_a_reason_stands_at_its_line():
    assert none(Missing("x", place=HERE, target_place=THERE, is_watched=False)).place == HERE
    assert none(Missing("x", place=HERE, target_place=THERE, is_literal=True)).place == THERE


def test_what_is_in_order_is_said_to_be():
    assert none(Missing("x", is_watched=False)).ruled_out == ("its dtype float32 is one that has derivatives",)
    assert "x is watched, and operations read it" in none(Missing("x", "y")).ruled_out
    assert none(Missing("a", dtype="int32", value=2, is_floating=False)).ruled_out == ()


def test_a_whole_number_is_written_as_a_float():
    assert "write 3.0 in place of 3" in none(Missing("a", dtype="int32", value=3, is_floating=False)).fix
