//! What may help with errors that newcomers meet. What is not about this command comes from
//! [`firearrow_driver::foreign_sql`], which the Python package asks, too.

use crate::load::has_decimal_comma;
use firearrow::{Error, Kind};
use firearrow_driver::foreign_sql::{self, line_after};

const PARAMETER: &str = "a parameter is written ?, and its value is given with --param";

/// Returns what may help with an error.
pub(crate) fn of(error: &Error) -> Option<String> {
    let message = error.message();
    match error.kind() {
        Kind::Syntax => of_sql(message),
        Kind::Database if is_missing_file(message) => Some(match message.contains("for file \"~") {
            true => "~ is not expanded here: write the whole path".to_owned(),
            false => "there is no such file, and no such alias; a server looks on its own disk. firearrow create makes \
                an empty database"
                .to_owned(),
        }),
        Kind::Database if says_it_exists(message) => Some(
            "choose another name, or delete the database that is there first".to_owned(),
        ),
        Kind::Unreachable if is_refused(message) => Some(
            "nothing listens there: is the server running, and is this its port? Without one in the URL it is 3050"
                .to_owned(),
        ),
        Kind::Login
            if ["password is wrong", "no password was given"].iter().any(|text| message.contains(text)) =>
        {
            Some("a password comes from the prompt, --password-file, FIREARROW_PASSWORD_FILE, FIREARROW_PASSWORD or ISC_PASSWORD".to_owned())
        }
        Kind::Login if message.contains("Your user name and password are not defined") => {
            Some("most likely the user or the password is wrong: Firebird does not say which".to_owned())
        }
        _ if between(message, "conversion error from string \"", "\"").is_some_and(has_decimal_comma) => Some(
            "if this is a number, it needs a decimal point; load reads CSV with decimal commas with --decimal-comma"
                .to_owned(),
        ),
        _ if is_iso(message) => {
            Some("write a space in place of the T; a DATE has no time, which must go".to_owned())
        }
        _ => null_word(message)
            .map(|text| format!("load takes this text in CSV for NULL with --null '{text}'")),
    }
}

fn of_sql(message: &str) -> Option<String> {
    if message.contains("Unexpected end of command") {
        return Some(
            "the statement is not complete; a SELECT without a table needs FROM RDB$DATABASE".to_owned(),
        );
    }
    let own = line_after(message, "Token unknown - ").and_then(of_token).map(str::to_owned);
    if let Some(hint) = own.or_else(|| foreign_sql::advice(message).map(str::to_owned)) {
        return Some(hint);
    }
    let name = line_after(message, "Table unknown").and_then(name)?;
    if name.contains(|c: char| c.is_ascii_lowercase()) {
        return Some(
            "names in quotes keep their case; names without quotes are stored in capitals".to_owned(),
        );
    }
    Some(format!(
        "if the name of a table has lower-case letters, it needs quotes: \"{}\"",
        name.to_ascii_lowercase()
    ))
}

/// By the token that the engine does not know, where the answer is an option or a command of ours.
fn of_token(token: &str) -> Option<&'static str> {
    Some(match token.to_ascii_uppercase().as_str() {
        "%" => {
            "a parameter is written ?, and its value is given with --param; the remainder of a division is MOD(a, b)"
        }
        "$" | "@" => PARAMETER,
        "BEGIN" | "START" => "a transaction begins with its first statement, or with SET TRANSACTION",
        "DESC" | "DESCRIBE" => "write SHOW TABLE name; firearrow ddl prints its definition",
        "EXPLAIN" => "firearrow query --plan shows plans, and so does SET EXPLAIN in the shell",
        "USE" => "a connection belongs to one database; \\connect in the shell opens another",
        _ => return None,
    })
}

fn between<'a>(message: &'a str, begin: &str, end: &str) -> Option<&'a str> {
    Some(message.split_once(begin)?.1.split_once(end)?.0)
}

/// A name without its schema and quotes; `None` if it is no simple one.
fn name(text: &str) -> Option<&str> {
    let name = text.rsplit('.').next()?.trim_matches('"');
    let is_simple = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$');
    (!name.is_empty() && name.chars().all(is_simple)).then_some(name)
}

/// The first line has the name of the file.
fn says_it_exists(message: &str) -> bool {
    message.lines().skip(1).any(|line| line.contains("File exists") || line.contains("The file exists"))
}

/// Whether nothing listens at the server's port. The port of events has advice of its own.
fn is_refused(message: &str) -> bool {
    let is_refused = ["Connection refused", "os error 10061"].iter().any(|text| message.contains(text));
    is_refused && !message.contains("RemoteAuxPort")
}

fn is_missing_file(message: &str) -> bool {
    message.contains("Error while trying to open file") && message.contains("No such file or directory")
}

/// Whether a text in the form of ISO 8601 is no moment for the engine, which reads them with a space only.
fn is_iso(message: &str) -> bool {
    let zone = message.split_once("Invalid time zone region: T");
    let is_zone = zone.is_some_and(|(_, rest)| rest.starts_with(|c: char| c.is_ascii_digit()));
    is_zone || between(message, "conversion error from string \"", "\"").is_some_and(is_iso_text)
}

/// The text that could not be converted, if it is what other programs write for NULL.
fn null_word(message: &str) -> Option<&str> {
    let text = between(message, "conversion error from string \"", "\"")?;
    ["NULL", "NA", "N/A", "NaN", "\\N", "-"]
        .iter()
        .any(|word| text.eq_ignore_ascii_case(word))
        .then_some(text)
}

/// `2024-02-29T12…`
fn is_iso_text(text: &str) -> bool {
    let matches = |(c, form): (u8, u8)| if form == b'0' { c.is_ascii_digit() } else { c == form };
    text.len() >= 12 && text.bytes().zip(*b"0000-00-00T0").all(matches)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_of_iso_8601_are_known() {
        for text in ["2024-02-29T12:00", "2024-02-29T1"] {
            assert!(is_iso(&format!("conversion error from string \"{text}\"")), "{text}");
        }
        for text in ["2024-02-29 12:00", "2024-02-29", "x", "2024-02-29T"] {
            assert!(!is_iso(&format!("conversion error from string \"{text}\"")), "{text}");
        }
        assert!(is_iso("Invalid time zone region: T12:00:00") && !is_iso("Invalid time zone region: Tokyo"));
    }
}
