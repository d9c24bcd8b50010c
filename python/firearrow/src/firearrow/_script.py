"""SQL scripts as statements."""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["statements"]

_TOKEN = re.compile(
    r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?\*/|[Qq]'\((?:.*?)\)'|[\w$]+|\s+|.", re.DOTALL
)
# These contain statements of their own, up to the END of the outermost BEGIN.
_ROUTINE = re.compile(
    r"(?:(?:CREATE(?: OR ALTER)?|ALTER|RECREATE) (?:PROCEDURE|FUNCTION|TRIGGER|PACKAGE)|EXECUTE BLOCK)\b"
)
_SET_TERM = re.compile(r"\s*SET\s+TERM\s+(\S+?)\s*", re.IGNORECASE)


def statements(script: str) -> Iterator[str]:
    """Yield the statements of a script, as isql separates them: by ``;``, or what ``SET TERM`` says.

    ``SET TERM`` is not needed for procedures, functions, triggers, packages and blocks.
    """
    terminator = ";"
    text: list[str] = []
    words: list[str] = []
    depth = 0
    has_body = False
    at = 0
    while at < len(script):
        if script.startswith(terminator, at):
            is_routine = terminator == ";" and _ROUTINE.match(" ".join(words[:4])) and "EXTERNAL" not in words
            if not is_routine or (has_body and depth == 0):
                at += len(terminator)
                statement = "".join(text).strip()
                if change := _SET_TERM.fullmatch(_without_comments(statement)):
                    terminator = change[1]
                elif words:
                    yield statement
                text, words, depth, has_body = [], [], 0, False
                continue
        found = _TOKEN.match(script, at)
        assert found is not None  # its last alternative takes any character
        token = found[0]
        # A terminator such as ^ or !! may follow a word at once, but is none within one.
        text.append(token)
        at = found.end()
        if re.match(r"[\w$]", token):
            word = token.upper()
            words.append(word)
            if word in ("BEGIN", "CASE"):
                depth += 1
                has_body = True
            elif word == "END":
                depth -= 1
    if words:
        yield "".join(text).strip()


def _without_comments(text: str) -> str:
    return re.sub(r"--[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL)
