//! Scripts: many statements in one text, as isql takes them.
//!
//! Statements end with a semicolon. Semicolons in texts, quoted names, comments and the bodies of procedures, functions,
//! triggers, packages and blocks do not count, so that a script needs no `SET TERM`. Where it has one, `SET TERM ^ ;` makes
//! `^` the only end of statements, as in isql.

use crate::error::{Error, Result, shortened};
use firearrow::sql::{Token, TokenKind, tokens};

/// Splits a script into its statements, without their terminators. `SET TERM` is none of them.
///
/// # Errors
/// `SET TERM` does not name a terminator.
///
/// ```
/// let script = "CREATE TABLE t (n INT); EXECUTE BLOCK AS BEGIN INSERT INTO t VALUES (1); END; SELECT ';' FROM t";
/// assert_eq!(firearrow_driver::script::statements(script)?.len(), 3);
/// # Ok::<_, firearrow_driver::Error>(())
/// ```
pub fn statements(script: &str) -> Result<Vec<&str>> {
    let mut splitter = Splitter::default();
    let Split { mut statements, rest } = splitter.split(script)?;
    match unfinished(rest) {
        // Without an end it changes nothing any more.
        Some(statement) if statement.term.is_some() => drop(statement.new_terminator(rest)?),
        Some(statement) => statements.push(&rest[statement.start..statement.end]),
        None => {}
    }
    Ok(statements)
}

/// Splits a script that comes in parts, such as lines that somebody enters.
#[derive(Clone, Debug, Default)]
pub struct Splitter {
    /// What `SET TERM` has chosen; `None` = a semicolon.
    terminator: Option<String>,
}

/// What a part of a script consists of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split<'a> {
    /// Whole statements, without their terminators.
    pub statements: Vec<&'a str>,
    /// The beginning of the next one, to which more must be added; empty if there is none.
    pub rest: &'a str,
}

impl Splitter {
    /// What ends a statement now.
    pub fn terminator(&self) -> &str {
        self.terminator.as_deref().unwrap_or(";")
    }

    /// Takes the statements that have ended. `SET TERM` is obeyed, and none of them.
    ///
    /// # Errors
    /// `SET TERM` does not name a terminator.
    pub fn split<'a>(&mut self, text: &'a str) -> Result<Split<'a>> {
        let mut statements = Vec::new();
        let mut current: Option<Statement> = None;
        let mut rest = tokens(text).peekable();
        while let Some(token) = rest.next() {
            let terminator = self.terminator();
            // A name may have $ in it: END$$ ends with a terminator.
            let token = match token.text.strip_suffix(terminator) {
                Some(word)
                    if token.kind == TokenKind::Word && terminator.starts_with('$') && !word.is_empty() =>
                {
                    let word = Token { text: word, ..token };
                    current.get_or_insert_with(|| Statement::new(word.start)).add(&word);
                    Token {
                        kind: TokenKind::Symbol,
                        text: terminator_of(text, &word, terminator),
                        start: word.end(),
                    }
                }
                _ => token,
            };
            let ends = token.start + terminator.len();
            let is_end = is_terminator(text, &token, terminator)
                && (self.terminator.is_some() || current.as_ref().is_none_or(Statement::may_end));
            if !is_end {
                current.get_or_insert_with(|| Statement::new(token.start)).add(&token);
                continue;
            }
            // A terminator may be several symbols.
            while rest.next_if(|token| token.start < ends).is_some() {}
            let Some(statement) = current.take() else { continue };
            if statement.term.is_some() {
                let new = statement.new_terminator(&text[..token.start])?;
                self.terminator = (new != ";").then(|| new.to_owned());
            } else {
                statements.push(&text[statement.start..statement.end]);
            }
        }
        Ok(Split { statements, rest: current.map_or("", |statement| &text[statement.start..]) })
    }
}

/// The statement that this text is the beginning of.
fn unfinished(rest: &str) -> Option<Statement> {
    let mut statement: Option<Statement> = None;
    for token in tokens(rest) {
        statement.get_or_insert_with(|| Statement::new(token.start)).add(&token);
    }
    statement
}

/// The terminator as it is written behind a word.
fn terminator_of<'a>(text: &'a str, word: &Token<'_>, terminator: &str) -> &'a str {
    &text[word.end()..word.end() + terminator.len()]
}

fn is_terminator(script: &str, token: &Token<'_>, terminator: &str) -> bool {
    let found = script.get(token.start..token.start + terminator.len());
    !matches!(token.kind, TokenKind::Text | TokenKind::QuotedName)
        && token.text.len() <= terminator.len()
        && found.is_some_and(|found| found.eq_ignore_ascii_case(terminator))
}

/// A statement up to the token that was added last.
struct Statement {
    start: usize,
    end: usize,
    /// Its first words in upper case, as many as are needed to know it.
    words: Vec<String>,
    /// Where the terminator begins that SET TERM names.
    term: Option<usize>,
    part: Part,
    /// Open parentheses of the head.
    parentheses: usize,
    /// Open BEGINs, and open CASEs in the innermost of them.
    begins: usize,
    cases: usize,
}

/// Which part of a statement comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// The first words.
    Beginning,
    /// SQL without a body, up to the terminator.
    Plain,
    /// The head of something with a body, up to AS.
    Head,
    /// The token after AS: a text is the body of an external routine.
    AfterAs,
    /// Declarations and subroutines, up to the BEGIN of the body or of a subroutine.
    Declarations,
    /// Between BEGIN and END.
    Body,
    /// After the END of the body or of a subroutine.
    AfterEnd,
}

impl Statement {
    fn new(start: usize) -> Self {
        Self {
            start,
            end: start,
            words: Vec::new(),
            term: None,
            part: Part::Beginning,
            parentheses: 0,
            begins: 0,
            cases: 0,
        }
    }

    /// Whether a semicolon is the end of the statement.
    fn may_end(&self) -> bool {
        matches!(self.part, Part::Beginning | Part::Plain | Part::Head | Part::AfterEnd)
    }

    /// What SET TERM names, which ends with this text.
    fn new_terminator<'a>(&self, text: &'a str) -> Result<&'a str> {
        let text = text[self.term.unwrap_or(text.len())..].trim();
        if text.is_empty() || text.contains(char::is_whitespace) {
            let text = shortened(text);
            return Err(Error::argument(format!(
                "SET TERM takes one terminator without blanks, not '{text}'"
            )));
        }
        Ok(text)
    }

    fn add(&mut self, token: &Token<'_>) {
        self.end = token.end();
        self.part = match self.part {
            Part::Beginning => self.begin(token),
            Part::Plain => Part::Plain,
            Part::Head => {
                if token.is_symbol('(') {
                    self.parentheses += 1;
                } else if token.is_symbol(')') {
                    self.parentheses = self.parentheses.saturating_sub(1);
                }
                if token.is_word("AS") && self.parentheses == 0 { Part::AfterAs } else { Part::Head }
            }
            Part::AfterAs if token.kind == TokenKind::Text => Part::Plain,
            Part::AfterAs | Part::Declarations | Part::Body | Part::AfterEnd => self.nest(token),
        };
    }

    /// Finds out what the statement is.
    fn begin(&mut self, token: &Token<'_>) -> Part {
        if token.kind != TokenKind::Word {
            return Part::Plain;
        }
        self.words.push(token.text.to_ascii_uppercase());
        let words: Vec<&str> = self.words.iter().map(String::as_str).collect();
        match words[..] {
            ["SET"] | ["EXECUTE"] => Part::Beginning,
            ["SET", "TERM" | "TERMINATOR"] => {
                self.term = Some(token.end());
                Part::Plain
            }
            ["EXECUTE", "BLOCK"] => Part::Head,
            ["CREATE" | "RECREATE" | "ALTER"] | ["CREATE", "OR"] | ["CREATE", "OR", "ALTER"] => {
                Part::Beginning
            }
            ["CREATE" | "RECREATE" | "ALTER", .., "PROCEDURE" | "FUNCTION" | "TRIGGER" | "PACKAGE"] => {
                Part::Head
            }
            _ => Part::Plain,
        }
    }

    /// Counts what is open in declarations and bodies.
    fn nest(&mut self, token: &Token<'_>) -> Part {
        if token.is_word("CASE") {
            self.cases += 1;
        } else if token.is_word("BEGIN") {
            self.begins += 1;
        } else if token.is_word("END") && self.cases > 0 {
            self.cases -= 1;
        } else if token.is_word("END") {
            self.begins = self.begins.saturating_sub(1);
            if self.begins == 0 {
                return Part::AfterEnd;
            }
        }
        if self.begins > 0 { Part::Body } else { Part::Declarations }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(script: &str) -> Vec<&str> {
        statements(script).expect("every SET TERM names a terminator")
    }

    #[test]
    fn semicolons_end_statements_where_they_are_no_part_of_one() {
        for (script, expected) in [
            ("", &[][..]),
            (" ;; -- nothing\n; ", &[]),
            ("SELECT 1 FROM t", &["SELECT 1 FROM t"]),
            ("a; b ;\n/* ; */ c -- ;\n;d", &["a", "b", "c", "d"]),
            ("SELECT ';', \";\", q'{;}' FROM t; x", &["SELECT ';', \";\", q'{;}' FROM t", "x"]),
            ("SELECT /* ; */ 1; x", &["SELECT /* ; */ 1", "x"]),
            ("SET GENERATOR g TO 1; COMMIT; ", &["SET GENERATOR g TO 1", "COMMIT"]),
            (
                "ALTER TRIGGER t INACTIVE; DROP PROCEDURE p; x",
                &["ALTER TRIGGER t INACTIVE", "DROP PROCEDURE p", "x"],
            ),
            ("SELECT 'open; x", &["SELECT 'open; x"]),
        ] {
            assert_eq!(split(script), expected, "{script}");
        }
    }

    #[test]
    fn bodies_keep_their_semicolons() {
        for body in [
            "EXECUTE BLOCK AS BEGIN END",
            "EXECUTE BLOCK (a INT = ?) RETURNS (b INT) AS DECLARE c INT; BEGIN b = a; SUSPEND; END",
            "create or alter procedure p (a int = cast('1' as int)) as begin if (a = 1) then begin a = 2; end end",
            "RECREATE FUNCTION f RETURNS INT AS BEGIN RETURN CASE WHEN 1 = 1 THEN 1 ELSE 2 END; END",
            "CREATE TRIGGER t FOR x BEFORE INSERT AS DECLARE n INT = CASE WHEN 1 = 1 THEN 1 END; BEGIN n = 1; END",
            "CREATE PROCEDURE p AS DECLARE PROCEDURE q AS BEGIN x = 1; END DECLARE y INT; BEGIN y = 1; END",
            "CREATE PROCEDURE p AS DECLARE PROCEDURE q; DECLARE PROCEDURE q AS BEGIN x = 1; END BEGIN EXECUTE PROCEDURE q; END",
            "CREATE PACKAGE k AS BEGIN PROCEDURE a; FUNCTION b RETURNS INT; END",
            "RECREATE PACKAGE BODY k AS BEGIN PROCEDURE a AS DECLARE n INT; BEGIN n = 1; END END",
            "CREATE PROCEDURE p EXTERNAL NAME 'm!p' ENGINE udr",
            "CREATE FUNCTION f RETURNS INT EXTERNAL NAME 'm!f' ENGINE e AS 'text;'",
        ] {
            let script = format!("first; {body}; last;");
            assert_eq!(split(&script), ["first", body, "last"]);
        }
        // The server refuses an unterminated statement.
        assert_eq!(split("EXECUTE BLOCK AS BEGIN x = 1; y"), ["EXECUTE BLOCK AS BEGIN x = 1; y"]);
    }

    #[test]
    fn scripts_may_come_in_parts() {
        let mut splitter = Splitter::default();
        let mut parts = |text| {
            let Split { statements, rest } = splitter.split(text).expect("every SET TERM names a terminator");
            (statements, rest, splitter.terminator().to_owned())
        };
        assert_eq!(parts("a; SELECT -- ;\n"), (vec!["a"], "SELECT -- ;\n", ";".to_owned()));
        assert_eq!(parts("SELECT -- ;\n1; -- end"), (vec!["SELECT -- ;\n1"], "", ";".to_owned()));
        assert_eq!(parts("SET TERM ^ ; b;"), (vec![], "b;", "^".to_owned()));
        assert_eq!(parts("b; c ^ d"), (vec!["b; c"], "d", "^".to_owned()));
        assert_eq!(parts("SET TERM ; ^ e;"), (vec!["e"], "", ";".to_owned()));
        assert_eq!(
            parts("EXECUTE BLOCK AS BEGIN x = 1;"),
            (vec![], "EXECUTE BLOCK AS BEGIN x = 1;", ";".to_owned())
        );
    }

    #[test]
    fn terminators_change() {
        let script = "a; SET TERM ^ ;\nEXECUTE BLOCK AS BEGIN x = 1; END^\nb; c ^ set term ; ^ d; e";
        assert_eq!(split(script), ["a", "EXECUTE BLOCK AS BEGIN x = 1; END", "b; c", "d", "e"]);
        assert_eq!(split("SET TERM !!;\na; '!!' ! b!!c !! SET TERM ;!! d;"), ["a; '!!' ! b", "c", "d"]);
        assert_eq!(split("SET TERM go ;\na; goal\nGO b go"), ["a; goal", "b"]);
        assert_eq!(split("SET TERM $$ ;\nBEGIN a; END$$ b$$c$$ d $$"), ["BEGIN a; END", "b$$c", "d"]);
        assert_eq!(split("SET TERM ^"), [""; 0]);
        for script in ["SET TERM ;", "SET TERM a b;", "SET TERM"] {
            assert!(statements(script).is_err(), "{script}");
        }
    }
}
