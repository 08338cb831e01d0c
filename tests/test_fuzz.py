"""A few random files of every kind: no reader falls short.  ``python tests/fuzz.py`` tries them by the minute."""

import random

import fuzz
import pytest

CASES = 25


@pytest.mark.parametrize("name", fuzz.READERS)
def test_no_reader_falls_short(tmp_path, monkeypatch, name):
    from companion import tables

    monkeypatch.setattr(tables, "DATA", tables.DATA)  # put back afterwards
    reader = fuzz.READERS[name](tmp_path)
    outcomes = [fuzz.one_case(reader, name, 7, number) for number in range(CASES)]
    tables.forget()
    assert [(number, *one) for number, one in enumerate(outcomes) if one[0] not in ("refused", "taken", "same")] == []
    assert sum(word == "refused" for word, _ in outcomes) > CASES // 3


@pytest.mark.parametrize("damage", [fuzz.damage_bytes, fuzz.damage_json])
def test_a_case_is_made_from_its_number_alone(damage):
    whole = b'{"a": [1, 2, {"b": "c"}], "d": 3.5}'
    first, again = ([damage(whole, random.Random(f"x 1 {n}")) for n in range(50)] for _ in range(2))
    assert first == again
    assert len(set(first)) > 10


class Short:
    """A reader that falls short in the way that it is told."""

    def __init__(self, error):
        self.error = error

    def try_one(self, chance):
        raise self.error


@pytest.mark.parametrize(("error", "word"), [(fuzz.Hang(), "hang"), (KeyError("x"), "error")])
def test_what_falls_short_is_counted(error, word):
    assert fuzz.one_case(Short(error), "toy", 1, 0)[0] == word
    assert fuzz._sentence(ValueError("two\nlines"), "") == "error"
    assert fuzz._sentence(ValueError("names another file"), "case") == "error"


def test_a_machine_that_stood_still_is_no_hang():
    class Waits:
        tried = 0

        def try_one(self, chance):
            self.tried += 1
            if self.tried == 1:
                raise fuzz.Waiting
            return "refused"

    assert fuzz.one_case(Waits(), "toy", 1, 0) == ("refused", "")
    assert fuzz.one_case(Short(fuzz.Waiting()), "toy", 1, 0) == ("hang", "")
