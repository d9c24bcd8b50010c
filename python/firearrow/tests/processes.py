"""Processes that tests look for, stop and kill."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path


def children(module: str) -> list[int]:
    """This process's living children that run a module of the package."""
    found = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            state, parent = folder.joinpath("stat").read_text().rpartition(")")[2].split()[:2]
            words = folder.joinpath("cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if int(parent) == os.getpid() and state != "Z" and module.encode() in words:
            found.append(int(folder.name))
    return found


def running(*words: str) -> list[int]:
    """Other processes of these tests with these words in their command lines, whoever has started them."""
    # All of them inherit it, and no other tests have the same.
    ours = f"FIREARROW_TEST_URLS={os.environ['FIREARROW_TEST_URLS']}".encode()
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            try:
                command = (
                    folder.joinpath("cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                )
                is_ours = ours in folder.joinpath("environ").read_bytes().split(b"\0")
            except OSError:
                continue
            if is_ours and all(word in command for word in words):
                found.append(int(folder.name))
    return found


def kill(module: str) -> None:
    """Kill them, and wait until they are gone."""
    for process in children(module):
        os.kill(process, signal.SIGKILL)
    until(lambda: not children(module))
    # Other threads of theirs may need a moment more.
    time.sleep(0.1)


def pause(module: str) -> None:
    """Stop them, until they go on."""
    for process in children(module):
        os.kill(process, signal.SIGSTOP)


def go_on(module: str) -> None:
    """Let them go on."""
    for process in children(module):
        os.kill(process, signal.SIGCONT)


def until(is_so: Callable[[], object], seconds: float = 30.0) -> None:
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, "timed out"
        time.sleep(0.05)
