"""What a pool decides, without connections."""

from __future__ import annotations

import random
from functools import partial
from typing import Any

import pytest

from firearrow import OperationalError, PoolClosed, PoolTimeout, ProgrammingError
from firearrow._backoff import Backoff
from firearrow._pooling import Limits, Member, State, Waiter, changes_session


def unreachable() -> OperationalError:
    error = OperationalError("nobody there")
    error.kind = "Unreachable"
    return error


class Play:
    """Does at random what users, threads and servers do, and checks what always holds."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.now = 0.0
        self.state: State[int] = State(self.limits())
        self.open: set[int] = set()
        self.number = 0
        self.opening = 0
        self.to_close: list[Member[int] | int] = []
        self.lent: list[Member[int]] = []
        self.queue: list[Waiter[int]] = []
        self.served: list[Waiter[int]] = []

    def limits(self) -> Limits:
        most = self.random.randint(1, 5)
        return Limits(self.random.randint(0, most), most, idle_timeout=5, max_lifetime=20)

    def wake(self, waiter: Waiter[int]) -> None:
        # First come, first served.
        assert self.queue.pop(0) is waiter
        if waiter.member is not None:
            assert waiter.member.connection in self.open
            self.lent.append(waiter.member)
        else:
            assert waiter.error is not None

    def check(self) -> None:
        state = self.state
        stats = state.stats()
        assert len(self.open) + self.opening <= max(stats.max_size, self.before)
        assert stats.size == len(self.open) + self.opening
        assert stats.in_use == len(self.lent) and stats.waiting == len(self.queue)
        assert not (state.idle and state.waiters)
        assert stats.opened - stats.closed == len(self.open)
        if state.waiters and not state.is_closed and self.now >= state._not_before:
            # Nobody waits for nothing.
            assert stats.size >= stats.max_size or self.opening > 0

    before = 0

    def step(self) -> None:
        state, choose = self.state, self.random
        self.now += choose.random()
        action = choose.choices(
            ["acquire", "release", "opened", "failed", "closed", "give up", "tend", "resize"],
            [10, 8, 10, 3, 8, 1, 3, 0.3],
        )[0]
        self.before = state.size
        if action == "acquire":
            member = state.take()
            if member is None:
                waiter: Waiter[int] = Waiter(lambda: None, self.now)
                waiter.wake = partial(self.wake, waiter)
                self.queue.append(waiter)
                state.wait(waiter)
            else:
                assert not self.queue
                self.lent.append(member)
        elif action == "release" and self.lent:
            member = self.lent.pop(choose.randrange(len(self.lent)))
            if not state.give_back(member, choose.random() < 0.9, self.now):
                self.to_close.append(member)
        elif action == "opened" and self.opening:
            self.opening -= 1
            self.number += 1
            self.open.add(self.number)
            if state.note_opened(self.number, self.now) is None:
                self.to_close.append(self.number)
        elif action == "failed" and self.opening:
            self.opening -= 1
            state.note_open_failed(choose.choice([unreachable(), ProgrammingError("no")]), self.now)
        elif action == "closed" and self.to_close:
            gone = self.to_close.pop()
            self.open.remove(gone if isinstance(gone, int) else gone.connection)
            state.gone()
        elif action == "give up" and self.queue:
            waiter = self.queue.pop(choose.randrange(len(self.queue)))
            state.leave(waiter, self.now)
            assert waiter.member is None and isinstance(state.timed_out(1), PoolTimeout)
        elif action == "tend":
            self.to_close += state.expired(self.now)
        elif action == "resize":
            state.limits = self.limits()
            self.to_close += state.expired(self.now)
        self.opening += state.reserve(self.now)
        self.check()

    def end(self) -> None:
        self.before = self.state.size
        waiting = list(self.queue)
        self.state.close()
        self.to_close += self.state.expired(self.now)
        assert all(isinstance(waiter.error, PoolClosed) for waiter in waiting)
        while self.lent:
            member = self.lent.pop()
            assert not self.state.give_back(member, True, self.now)
            self.to_close.append(member)
        while self.opening:
            self.opening -= 1
            self.number += 1
            self.open.add(self.number)
            assert self.state.note_opened(self.number, self.now) is None
            self.to_close.append(self.number)
        for gone in self.to_close:
            self.open.remove(gone if isinstance(gone, int) else gone.connection)
            self.state.gone()
        assert self.state.size == 0 and not self.open
        with pytest.raises(PoolClosed):
            self.state.take()


@pytest.mark.parametrize("seed", range(200))
def test_what_always_holds(seed: int) -> None:
    play = Play(seed)
    for _ in range(300):
        play.step()
    assert play.number > 0
    play.end()


def test_a_connection_that_came_back_dead_keeps_its_borrowers_place() -> None:
    order: list[str] = []
    state: State[str] = State(Limits(max_size=1))
    for name in ("second", "third"):
        state.wait(Waiter(partial(order.append, name), 0.0))
    state.wait(Waiter(lambda: order.append("first"), 0.0), is_first=True)
    for connection in ("a", "b", "c"):
        assert state.reserve(0.0) == 1
        member = state.note_opened(connection, 0.0)
        assert member is not None
        assert not state.give_back(member, False, 0.0)
        state.gone()
    assert order == ["first", "second", "third"]


def test_the_first_connection_is_opened_alone() -> None:
    state: State[str] = State(Limits(min_size=3, max_size=5))
    for _ in range(4):
        state.wait(Waiter(lambda: None, 0.0))
    assert state.reserve(0.0) == 1
    assert state.reserve(0.0) == 0
    state.note_open_failed(ProgrammingError("a wrong password"), 0.0)
    assert state.reserve(0.0) == 1
    first = state.note_opened("a", 0.0)
    assert first is not None
    assert state.reserve(0.0) == 2
    assert (len(state.waiters), state.size) == (2, 3)


def test_an_unreachable_server_is_asked_less_and_less_often() -> None:
    state: State[str] = State(Limits(max_size=1))
    state.wait(Waiter(lambda: None, 0.0))
    now, asked = 0.0, 0
    while now < 60:
        if state.reserve(now):
            asked += 1
            state.note_open_failed(unreachable(), now)
        now += 0.005
    assert 12 < asked < 60, asked
    assert len(state.waiters) == 1


@pytest.mark.parametrize(
    ("sql", "changes"),
    [
        ("SET ROLE accountant", True),
        ("set time zone 'Europe/Berlin'", True),
        ("SET /* quietly */ BIND OF DECFLOAT TO VARCHAR", True),
        ("SET -- so\n DECFLOAT ROUND HALF_UP", True),
        ("ALTER SESSION RESET", True),
        ("SELECT rdb$set_context('USER_SESSION', 'A', 'b') FROM RDB$DATABASE", True),
        ("EXECUTE BLOCK AS BEGIN SET TIME ZONE LOCAL; END", True),
        ("UPDATE t SET n = 1", False),
        ("UPDATE t SET role_name = 'x'", False),
        ("SELECT 1 FROM RDB$DATABASE", False),
        ("SELECT RDB$GET_CONTEXT('USER_SESSION', 'A') FROM RDB$DATABASE", False),
        ("SET GENERATOR g TO 1", False),
    ],
)
def test_which_statements_change_a_session(sql: str, changes: bool) -> None:
    assert changes_session(sql) is changes


def test_pauses_grow_with_full_jitter_up_to_a_limit() -> None:
    backoff = Backoff(attempts=8, timeout=100, base=0.1, cap=1)
    assert list(backoff.delays(lambda: 0.0, lambda: 1.0)) == pytest.approx([0.1, 0.2, 0.4, 0.8, 1, 1, 1])
    assert list(backoff.delays(lambda: 0.0, lambda: 0.0)) == [0] * 7
    drawn = [next(backoff.delays(lambda: 0.0)) for _ in range(1000)]
    assert 0 <= min(drawn) < 0.01 and 0.09 < max(drawn) <= 0.1
    assert 0.04 < sum(drawn) / 1000 < 0.06
    assert backoff.pause(10_000, lambda: 1.0) == 1


def test_pauses_end_with_the_attempts_and_with_the_time() -> None:
    assert list(Backoff(attempts=1).delays(lambda: 0.0)) == []
    clock = iter([0.0, 1.0, 2.0, 2.95])
    delays = Backoff(attempts=9, timeout=3, base=0.1, cap=1).delays(lambda: next(clock), lambda: 1.0)
    assert list(delays) == pytest.approx([0.1, 0.2])
    refused: list[dict[str, Any]] = [
        {"attempts": 0},
        {"timeout": -1},
        {"base": float("nan")},
        {"cap": float("inf")},
    ]
    for wrong in refused:
        with pytest.raises(ValueError, match=next(iter(wrong))):
            Backoff(**wrong)
