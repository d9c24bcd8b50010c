//! Goes through SQL text and replaces escapes.

use super::{Context, call, function, literal, syntax_error};
use crate::diagnostics::{Failure, Result};
use firearrow::sql::{Token, TokenKind, tokens};
use std::borrow::Cow;
use std::iter::Peekable;

/// Escapes within escapes. Each level needs stack.
const MOST_LEVELS: usize = 64;

/// The state of a translation.
pub(super) struct Translator<'s, 'c, 'r> {
    sql: &'s str,
    tokens: Peekable<Box<dyn Iterator<Item = Token<'s>> + 's>>,
    pub(super) context: &'c mut Context<'r>,
    depth: usize,
    pub(super) is_call: bool,
    pub(super) returns_value: bool,
    pub(super) outputs: usize,
}

/// Text between two tokens, with its escapes translated.
pub(super) struct Piece<'s> {
    pub(super) text: Cow<'s, str>,
    /// Where it was.
    start: usize,
    end: usize,
    /// The token after it.
    pub(super) stop: Option<Token<'s>>,
}

impl<'s, 'c, 'r> Translator<'s, 'c, 'r> {
    pub(super) fn new(sql: &'s str, context: &'c mut Context<'r>) -> Self {
        let tokens: Box<dyn Iterator<Item = Token<'s>> + 's> = Box::new(tokens(sql));
        Self {
            sql,
            tokens: tokens.peekable(),
            context,
            depth: 0,
            is_call: false,
            returns_value: false,
            outputs: 0,
        }
    }

    /// The whole text, unless it has no escapes.
    pub(super) fn whole(&mut self) -> Result<Option<String>> {
        let piece = self.piece(None, &[])?;
        let Cow::Owned(text) = piece.text else { return Ok(None) };
        Ok(Some([&self.sql[..piece.start], &text, &self.sql[piece.end..]].concat()))
    }

    /// Copies text up to one of these symbols outside parentheses, which is consumed; within an escape, up to its end at
    /// the latest. The text begins with `first` if it is given. Comments at either end are dropped: one up to the end of
    /// its line would hide what is added after it.
    pub(super) fn piece(&mut self, first: Option<Token<'s>>, stops: &[char]) -> Result<Piece<'s>> {
        let mut copied = String::new();
        let mut has_escape = false;
        let mut nesting = 0_usize;
        let (mut start, mut end) = first.map_or((None, 0), |token| (Some(token.start), token.end()));
        let mut rest = start;
        let mut stop = None;
        while let Some(token) = self.tokens.next() {
            let is_end = self.depth > 0 && token.is_symbol('}');
            if is_end || nesting == 0 && stops.iter().any(|stop| token.is_symbol(*stop)) {
                stop = Some(token);
                break;
            }
            start = start.or(Some(token.start));
            end = token.end();
            match token.text {
                "(" | "[" => nesting += 1,
                ")" | "]" => nesting = nesting.saturating_sub(1),
                "{" => {
                    append(&mut copied, &self.sql[rest.unwrap_or(token.start)..token.start]);
                    let (text, after) = self.escape(&token)?;
                    append(&mut copied, &text);
                    (has_escape, end, rest) = (true, after, Some(after));
                }
                _ => {}
            }
            rest = rest.or(start);
        }
        let start = start.unwrap_or(end);
        let text = if has_escape {
            append(&mut copied, &self.sql[rest.unwrap_or(end)..end]);
            Cow::Owned(copied)
        } else {
            Cow::Borrowed(&self.sql[start..end])
        };
        Ok(Piece { text, start, end, stop })
    }

    /// Translates the escape after its opening brace, and says where it ends.
    fn escape(&mut self, open: &Token<'s>) -> Result<(String, usize)> {
        if self.depth == MOST_LEVELS {
            return Err(self.error(open.start, "escape sequences are nested too deeply"));
        }
        self.depth += 1;
        let word = self.tokens.next();
        let keyword = word.map(|word| word.text.to_ascii_lowercase()).unwrap_or_default();
        let (text, close) = match keyword.as_str() {
            "d" | "t" | "ts" | "guid" | "escape" => {
                let literal = self.expect(TokenKind::Text, "text in single quotes")?;
                let text = literal::translate(&keyword, literal.text, self.context.dialect);
                (text, self.close(open)?)
            }
            "fn" => function::translate(self, open)?,
            "oj" => {
                let piece = self.piece(None, &['}'])?;
                let close = self.closed(piece.stop, open)?;
                (piece.text.into_owned(), close)
            }
            "call" | "?" => {
                let is_first = tokens(self.sql).next().is_some_and(|first| first.start == open.start);
                if !is_first {
                    return Err(self.error(open.start, "{call} must be the whole statement"));
                }
                call::translate(self, open, keyword == "?")?
            }
            "interval" => return Err(self.error(open.start, "Firebird has no INTERVAL types")),
            _ => return Err(self.error(open.start, "unknown escape sequence")),
        };
        self.depth -= 1;
        Ok((text, close.end()))
    }

    pub(super) fn peek(&mut self) -> Option<Token<'s>> {
        self.tokens.peek().copied()
    }

    /// The next token if it is this symbol.
    pub(super) fn symbol(&mut self, symbol: char) -> Option<Token<'s>> {
        self.tokens.next_if(|token| token.is_symbol(symbol))
    }

    /// The next token if it is of this kind.
    pub(super) fn kind(&mut self, kind: TokenKind) -> Option<Token<'s>> {
        self.tokens.next_if(|token| token.kind == kind)
    }

    fn expect(&mut self, kind: TokenKind, what: &str) -> Result<Token<'s>> {
        self.kind(kind).ok_or_else(|| self.expected(what))
    }

    /// The closing brace of the escape that begins with `open`.
    pub(super) fn close(&mut self, open: &Token<'s>) -> Result<Token<'s>> {
        match self.peek() {
            Some(token) if !token.is_symbol('}') => Err(self.expected("}")),
            _ => {
                let close = self.tokens.next();
                self.closed(close, open)
            }
        }
    }

    /// The closing brace, if that was the end of a piece.
    pub(super) fn closed(&self, stop: Option<Token<'s>>, open: &Token<'s>) -> Result<Token<'s>> {
        stop.ok_or_else(|| self.error(open.start, "the escape sequence is not closed"))
    }

    /// The failure that something else was expected next.
    pub(super) fn expected(&mut self, what: &str) -> Failure {
        let at = self.peek().map_or(self.sql.len(), |token| token.start);
        self.error(at, &format!("expected {what}"))
    }

    pub(super) fn error(&self, offset: usize, what: &str) -> Failure {
        syntax_error(self.sql, offset, what)
    }
}

/// Appends text, with a blank where it would form one word, literal or comment with what is there.
fn append(text: &mut String, more: &str) {
    if let (Some(left), Some(right)) = (text.chars().next_back(), more.chars().next()) {
        let apart = left.is_whitespace() || "([,=".contains(left);
        if !(apart || right.is_whitespace() || ")],;".contains(right)) {
            text.push(' ');
        }
    }
    text.push_str(more);
}
