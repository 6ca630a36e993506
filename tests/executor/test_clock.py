"""Moments and fresh ids."""

from __future__ import annotations

import threading

from hypothesis import given
from hypothesis import strategies as st
from ulid import ULID

import ir
from executor import FixedClock, SystemClock
from executor.core.clock import derived_id, moment_of_id


@given(st.integers(0, 2**48 - 1), st.text())
def test_a_derived_id_is_a_ulid_of_its_moment_and_follows_from_its_text(moment: int, text: str) -> None:
    id = derived_id(text, moment)
    assert ir.is_ulid(id)
    assert moment_of_id(id) == moment
    assert id == derived_id(text, moment) != derived_id(f"{text}.", moment)


def test_derived_ids_stay_what_earlier_journals_hold() -> None:
    assert moment_of_id("01M81BVK9183F6FSXEQJXRB2W8") == 1795342322977
    assert derived_id("01M81BVK9183F6FSXEQJXRB2W8 n1", 1795342322977) == "01M81BVK91G5XD708CWTNNBSZ0"


def test_ids_only_grow_also_between_threads_and_within_a_millisecond() -> None:
    clock, made = SystemClock(), list[list[str]]()

    def take() -> None:
        ids = [clock.new_id() for _ in range(500)]
        assert ids == sorted(set(ids))
        made.append(ids)

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id for ids in made for id in ids}) == 2000


def test_an_id_tells_the_moment_it_was_made() -> None:
    clock = FixedClock("2026-11-21T10:00:00.000Z")
    assert ULID.from_str(clock.new_id()).datetime.isoformat() == "2026-11-21T10:00:00+00:00"


def test_a_fixed_clock_gives_the_same_moments_and_ids_again() -> None:
    def readings() -> list[str]:
        clock = FixedClock("2026-11-21T10:00:00.000Z", step_ms=250)
        return [clock.now(), clock.now(), clock.new_id(), clock.new_id()]

    assert readings() == readings()
    assert readings()[:2] == ["2026-11-21T10:00:00.000Z", "2026-11-21T10:00:00.250Z"]


def test_moments_are_what_documents_ask_for() -> None:
    assert ir.is_instant(SystemClock().now())
