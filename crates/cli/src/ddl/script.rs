//! Statements, and the script that has them.

use super::name::{literal, name};
use serde_json::json;

/// A statement, without a terminator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Statement {
    /// What it creates, or `GRANT`, `COMMENT` and the like.
    kind: &'static str,
    /// The object that it is about.
    object: String,
    sql: String,
    /// Whether semicolons in it do not end it.
    has_body: bool,
}

/// Statements in the order in which they are run.
#[derive(Clone, Debug, Default)]
pub(super) struct Script {
    statements: Vec<Statement>,
    /// Those that come after all others.
    comments: Vec<Statement>,
}

impl Script {
    /// Adds a statement about an object.
    pub(super) fn add(&mut self, kind: &'static str, object: &str, sql: String) {
        self.statements.push(Statement { kind, object: object.to_owned(), sql, has_body: false });
    }

    /// Adds a statement with a body in PSQL.
    pub(super) fn add_body(&mut self, kind: &'static str, object: &str, sql: String) {
        self.statements.push(Statement { kind, object: object.to_owned(), sql, has_body: true });
    }

    /// Adds a comment on an object, if it has one.
    pub(super) fn comment(&mut self, kind: &str, object: &str, remarks: Option<&String>) {
        self.comment_on(kind, object, &name(object), remarks);
    }

    /// Adds a comment on a part of an object, if it has one. `part` is its name as SQL has it.
    pub(super) fn comment_on(&mut self, kind: &str, object: &str, part: &str, remarks: Option<&String>) {
        let Some(remarks) = remarks else { return };
        let gap = if part.is_empty() { "" } else { " " };
        let sql = format!("COMMENT ON {kind}{gap}{part} IS {}", literal(remarks));
        let statement = Statement { kind: "COMMENT", object: object.to_owned(), sql, has_body: false };
        self.comments.push(statement);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all().next().is_none()
    }

    fn all(&self) -> impl Iterator<Item = &Statement> {
        self.statements.iter().chain(&self.comments)
    }

    /// Returns one JSON object per statement and line.
    pub(super) fn json(&self) -> String {
        let line = |one: &Statement| {
            let facts = json!({ "kind": one.kind, "object": one.object, "sql": one.sql });
            format!("{facts}\n")
        };
        self.all().map(line).collect()
    }

    /// Returns the text that isql takes, and every other program that knows `SET TERM`.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        let mut terminator = ";";
        let mut last: Option<&Statement> = None;
        for one in self.all() {
            let wanted = if one.has_body { terminator_for(&one.sql) } else { ";" };
            let is_list = last.is_some_and(|last| last.kind == one.kind && last.is_line() && one.is_line());
            if last.is_some() && !is_list {
                text.push('\n');
            }
            if wanted != terminator {
                // From one body to another with its own terminator it takes two steps, which readers expect.
                if terminator != ";" {
                    text += &format!("SET TERM ; {terminator}\n\n");
                }
                if wanted != ";" {
                    text += &format!("SET TERM {wanted} ;\n\n");
                }
                terminator = wanted;
            }
            // A comment at the end of the source must not hide the terminator.
            let gap = if one.has_body { "\n" } else { "" };
            text += &format!("{}{gap}{terminator}\n", one.sql);
            last = Some(one);
        }
        if terminator != ";" {
            text += &format!("\nSET TERM ; {terminator}\n");
        }
        text
    }
}

impl Statement {
    fn is_line(&self) -> bool {
        !self.sql.contains('\n')
    }
}

/// Returns the first terminator that the text does not contain.
fn terminator_for(sql: &str) -> &'static str {
    TERMINATORS.into_iter().find(|terminator| !sql.contains(terminator)).unwrap_or(";")
}

/// `^` is customary. With the last resort, `;`, the splitter of this project still finds the end of a body.
const TERMINATORS: [&str; 4] = ["^", "!!", "~~", "@@@"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_have_a_terminator_that_they_do_not_contain() {
        let mut script = Script::default();
        script.add("SEQUENCE", "A", "CREATE SEQUENCE A".into());
        script.add("SEQUENCE", "B", "CREATE SEQUENCE B".into());
        script.add_body("PROCEDURE", "P", "CREATE PROCEDURE P AS\nBEGIN END".into());
        script.add_body("PROCEDURE", "Q", "CREATE PROCEDURE Q AS\nBEGIN x = '^'; END".into());
        script.comment("PROCEDURE", "P", Some(&"it's".into()));
        let expected = "CREATE SEQUENCE A;\nCREATE SEQUENCE B;\n\nSET TERM ^ ;\n\nCREATE PROCEDURE P AS\nBEGIN END\n^\n\n\
                        SET TERM ; ^\n\nSET TERM !! ;\n\nCREATE PROCEDURE Q AS\nBEGIN x = '^'; END\n!!\n\n\
                        SET TERM ; !!\n\nCOMMENT ON PROCEDURE P IS 'it''s';\n";
        assert_eq!(script.text(), expected);
        let json = script.json();
        assert_eq!(json.lines().count(), 5);
        assert!(json.starts_with("{\"kind\":\"SEQUENCE\",\"object\":\"A\",\"sql\":\"CREATE SEQUENCE A\"}\n"));
    }
}
