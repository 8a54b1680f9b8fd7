"""The table of names."""

from __future__ import annotations

import pytest

from gradexplain import tf


def test_an_unknown_name_says_what_is_near():
    with pytest.raises(AttributeError, match=r"tf\.nn\.relux is not .*\n.*\n.*tf\.nn\.relu"):
        tf.nn.relux  # noqa: B018
    with pytest.raises(AttributeError, match=r"tf\.math\.sin"):
        tf.nn.sin  # noqa: B018
    with pytest.raises(AttributeError):
        tf.nothing_of_the_kind  # noqa: B018


def test_namespaces_can_be_imported_from():
    from gradexplain.tf.keras import layers
    from gradexplain.tf.keras.layers import Dense

    assert layers.Dense is Dense
    assert "relu" in dir(tf.nn)
    assert "keras" in dir(tf)


def test_arguments_go_by_name_too():
    x = tf.constant([[1.0, 2.0]])
    assert tf.reduce_sum(input_tensor=x, axis=1, name="total").numpy().tolist() == [3.0]
    with pytest.raises(TypeError, match="input_tensor"):
        tf.reduce_sum(axis=0)


def test_all_names_of_the_table_stand_for_something():
    assert all(value is not None or name == "newaxis" for name, value in tf.names.table.TABLE.items())
