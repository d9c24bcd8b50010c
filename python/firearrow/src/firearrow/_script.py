"""SQL scripts as statements."""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["statements"]

# What is not closed goes to the end. A doubled quote is taken for two texts side by side, which end at the
# same place.
_COMMENT = r"--[^\n]*|/\*.*?(?:\*/|\Z)"
_QUOTED = (r"\(.*?(?:\)'|\Z)", r"\[.*?(?:\]'|\Z)", r"\{.*?(?:\}'|\Z)", r"<.*?(?:>'|\Z)")
_TOKEN = re.compile(
    rf"{_COMMENT}|[Qq]'(?:{'|'.join(_QUOTED)}|(?P<mark>[^\s'(\[{{<]).*?(?:(?P=mark)'|\Z))"
    r"|'[^']*'?|\"[^\"]*\"?|[\w$]+|\s+|.",
    re.DOTALL,
)
_WORD = re.compile(r"[\w$]+")
# These contain statements of their own, up to the END of the outermost BEGIN.
_ROUTINE = re.compile(
    r"(?:(?:CREATE(?: OR ALTER)?|ALTER|RECREATE) (?:PROCEDURE|FUNCTION|TRIGGER|PACKAGE)|EXECUTE BLOCK)\b"
)
_SET_TERM = re.compile(r"\s*SET\s+TERM\s+(\S+)\s*", re.IGNORECASE)


class _Statement:
    """A statement as far as it was read."""

    def __init__(self) -> None:
        self.text: list[str] = []
        # The first ones, in capitals.
        self.words: list[str] = []
        self._last = ""
        self._depth = 0
        self._parentheses = 0
        self._is_external = False
        # Whether AS has come, and whether the END of its BEGIN has.
        self._has_as = self._is_over = False
        # Of a procedure or function that is declared in it: whether it has AS. None = there is none.
        self._local_as: bool | None = None

    def add(self, token: str) -> None:
        self.text.append(token)
        if token in "()":
            self._parentheses += 1 if token == "(" else -1
        elif _WORD.match(token):
            self._add_word(token.upper())

    def _add_word(self, word: str) -> None:
        if len(self.words) < 4:
            self.words.append(word)
        if word in ("BEGIN", "CASE"):
            self._depth += 1
        elif word == "END" and self._depth:
            self._depth -= 1
            if not self._depth and not self._parentheses:
                if self._local_as is None:
                    self._is_over = True
                self._local_as = None
        elif self._depth or self._parentheses:
            pass
        elif word == "AS":
            if self._local_as is not None:
                self._local_as = True
            self._has_as = True
        elif word == "EXTERNAL" and not self._has_as:
            self._is_external = True
        elif word in ("PROCEDURE", "FUNCTION") and self._last == "DECLARE":
            self._local_as = False
        self._last = word

    def ends(self) -> bool:
        """Whether a semicolon ends it, and not only a part of it."""
        if self._local_as is False and not self._depth:
            # The procedure or function is only announced.
            self._local_as = None
        is_routine = self._has_as and not self._is_external and _ROUTINE.match(" ".join(self.words))
        return not is_routine or self._is_over


def statements(script: str) -> Iterator[str]:
    """Yield the statements of a script, as isql separates them: by ``;``, or what ``SET TERM`` says.

    ``SET TERM`` is not needed for procedures, functions, triggers, packages and blocks.
    """
    terminator = ";"
    statement = _Statement()
    at = 0
    while at < len(script):
        found = _TOKEN.match(script, at)
        assert found is not None  # its last alternative takes any character
        token = found[0]
        # A terminator such as ^ or !! may follow a word at once, but is none within one.
        is_end = token == terminator if _WORD.match(terminator) else script.startswith(terminator, at)
        if is_end and (terminator != ";" or statement.ends()):
            at += len(terminator)
            text = "".join(statement.text).strip()
            if change := statement.words[:2] == ["SET", "TERM"] and _SET_TERM.fullmatch(
                re.sub(_COMMENT, " ", text, flags=re.DOTALL)
            ):
                terminator = change[1]
            elif statement.words:
                yield text
            statement = _Statement()
            continue
        statement.add(token)
        at = found.end()
    if statement.words:
        yield "".join(statement.text).strip()
