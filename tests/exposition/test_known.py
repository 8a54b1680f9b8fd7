"""The names of rules that a reader may know."""

import pytest

from gradexplain.errors import ArgumentError
from gradexplain.exposition.known import known_rules, rule_names


@pytest.mark.parametrize(
    "name", ["constant multiple", "constant-multiple", "Constant_Multiple rule", " constant multiple "]
)
def test_names_are_read_as_people_write_them(name):
    assert known_rules([name]) == {"constant multiple rule"}


def test_every_name_is_understood():
    for name in rule_names():
        assert known_rules(name)


def test_what_follows_from_two_rules_is_known_with_both():
    assert "power and chain rule" not in known_rules("power")
    assert "power and chain rule" in known_rules("power, chain")
    assert {"sine rule", "logarithm rule", "arctangent rule"} <= known_rules("table")


def test_unknown_names_are_refused_with_the_list():
    with pytest.raises(ArgumentError, match=r"no rule 'suum' to know[\s\S]*the rules are constant, identity, sum"):
        known_rules(("suum",))
