//! Status vectors: how an engine reports errors and warnings.

use super::gds;
use std::fmt;

/// One argument of a status vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StatusArg {
    /// `isc_arg_gds`: begins an error.
    Gds(i32),
    /// `isc_arg_warning`: begins a warning.
    Warning(i32),
    /// Text parameter of the message before it.
    Text(String),
    /// Numeric parameter of the message before it.
    Number(i32),
    /// A line of finished text.
    Interpreted(String),
    /// SQLSTATE from the engine itself.
    SqlState(String),
    /// An error number of the engine's operating system: kind (`unix`, `win32`, `next_mach`) and value.
    System(&'static str, i32),
}

/// A complete status vector.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatusVector(pub Vec<StatusArg>);

/// SQLSTATE when nothing more specific is known.
const GENERAL_ERROR: &str = "HY000";
const GENERAL_WARNING: &str = "01000";

impl StatusVector {
    /// Whether the vector reports an error, with or without a code; a warning alone is not one.
    pub fn is_error(&self) -> bool {
        self.parts().0.iter().any(|arg| !matches!(arg, StatusArg::Gds(0)))
    }

    /// The arguments of the errors, without those of the warnings.
    pub fn error_args(&self) -> &[StatusArg] {
        self.parts().0
    }

    /// The arguments of the errors, and those of the warnings. A warning, too, may have several codes: the first one
    /// begins with `isc_arg_warning`, and whatever follows belongs to it.
    fn parts(&self) -> (&[StatusArg], &[StatusArg]) {
        let warnings = self.0.iter().position(|arg| matches!(arg, StatusArg::Warning(_)));
        self.0.split_at(warnings.unwrap_or(self.0.len()))
    }

    /// The gds codes of the errors, in order.
    pub fn errors(&self) -> impl Iterator<Item = i32> + '_ {
        codes(self.parts().0)
    }

    /// The gds code of the error, if it has one. Errors of procedures and triggers have others behind it, which tell where
    /// they come from.
    pub fn only_error(&self) -> Option<i32> {
        let mut codes = self.errors();
        codes.next().filter(|_| codes.next().is_none())
    }

    /// The gds codes of the warnings, in order.
    pub fn warnings(&self) -> impl Iterator<Item = i32> + '_ {
        codes(self.parts().1)
    }

    /// The vector without its errors.
    #[must_use]
    pub fn without_errors(&self) -> Self {
        Self(self.parts().1.to_vec())
    }

    /// Its size in memory, in bytes.
    pub fn weight(&self) -> usize {
        let texts = self.0.iter().map(|arg| match arg {
            StatusArg::Text(text) | StatusArg::Interpreted(text) | StatusArg::SqlState(text) => text.len(),
            _ => 0,
        });
        size_of::<StatusArg>() * self.0.len() + texts.sum::<usize>()
    }

    /// Whether `code` is among the errors.
    pub fn contains(&self, code: i32) -> bool {
        self.errors().any(|each| each == code)
    }

    /// The five-character SQLSTATE: the engine's own if it sent one, else the first specific one of its codes
    /// (the rule of the client library: 22000, 42000 and HY000 give way to a later, narrower state).
    pub fn sqlstate(&self) -> &str {
        let (errors, warnings) = self.parts();
        let (mut found, args) = match !self.is_error() && !warnings.is_empty() {
            true => (GENERAL_WARNING, warnings),
            false => (GENERAL_ERROR, errors),
        };
        if let Some(state) = args.iter().find_map(|arg| match arg {
            StatusArg::SqlState(state) if is_sqlstate(state) => Some(state.as_str()),
            _ => None,
        }) {
            return state;
        }
        for code in codes(args).filter(|code| !matches!(*code, gds::ISC_RANDOM | gds::ISC_SQLERR)) {
            match gds::message(code).map(|message| message.sqlstate) {
                None | Some("00000") => {}
                Some(state) => {
                    found = state;
                    if !matches!(state, "22000" | "42000" | "HY000") {
                        break;
                    }
                }
            }
        }
        found
    }

    /// The SQLCODE: the number after `isc_sqlerr`, else that of the first known code, else −999.
    pub fn sqlcode(&self) -> i32 {
        let sqlerr = self.error_args().windows(2).find_map(|pair| match pair {
            [StatusArg::Gds(gds::ISC_SQLERR), StatusArg::Number(code)] => Some(*code),
            _ => None,
        });
        sqlerr
            .or_else(|| self.errors().find_map(|code| gds::message(code).map(|m| i32::from(m.sqlcode))))
            .unwrap_or(-999)
    }

    /// The finished text lines of errors (or of warnings).
    pub fn lines(&self, warnings: bool) -> Vec<String> {
        let mut lines = Vec::new();
        let (errors, of_warnings) = self.parts();
        let mut args = if warnings { of_warnings } else { errors }.iter().peekable();
        while let Some(arg) = args.next() {
            let code = match arg {
                StatusArg::Gds(code) | StatusArg::Warning(code) => *code,
                StatusArg::Interpreted(text) => {
                    lines.push(text.clone());
                    continue;
                }
                StatusArg::System(kind, code) => {
                    lines.push(match system_error(*code).filter(|_| *kind == "unix") {
                        Some(text) => format!("{kind} error {code}: {text}"),
                        None => format!("{kind} error {code}"),
                    });
                    continue;
                }
                _ => continue,
            };
            let mut params = Vec::new();
            while let Some(next) = args.peek() {
                match next {
                    StatusArg::Text(text) => params.push(text.clone()),
                    StatusArg::Number(number) => params.push(number.to_string()),
                    _ => break,
                }
                args.next();
            }
            if code != 0 {
                lines.push(gds::format(code, &params));
            }
        }
        lines
    }
}

/// The gds codes among arguments.
fn codes(args: &[StatusArg]) -> impl Iterator<Item = i32> + '_ {
    args.iter().filter_map(|arg| match arg {
        StatusArg::Gds(code) | StatusArg::Warning(code) if *code != 0 => Some(*code),
        _ => None,
    })
}

/// A peer may send anything as SQLSTATE; front ends have room for five characters.
fn is_sqlstate(state: &str) -> bool {
    state.len() == 5 && state.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// All error lines, or those of the warnings if there is no error, joined as the client library joins them.
impl fmt::Display for StatusVector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, line) in self.lines(!self.is_error()).iter().enumerate() {
            if index > 0 {
                f.write_str("\n-")?;
            }
            f.write_str(line)?;
        }
        Ok(())
    }
}

/// Errors of operating systems whose numbers are the same on every Unix, in the words of its `strerror`.
fn system_error(code: i32) -> Option<&'static str> {
    Some(match code {
        1 => "Operation not permitted",
        2 => "No such file or directory",
        5 => "Input/output error",
        12 => "Cannot allocate memory",
        13 => "Permission denied",
        17 => "File exists",
        20 => "Not a directory",
        21 => "Is a directory",
        22 => "Invalid argument",
        23 => "Too many open files in system",
        24 => "Too many open files",
        27 => "File too large",
        28 => "No space left on device",
        30 => "Read-only file system",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Firebird 4 and 5 answer to ALTER SESSION RESET in a transaction with changes.
    #[test]
    fn what_follows_a_warning_is_no_error() {
        let warned = vec![StatusArg::Warning(335_545_208), StatusArg::Gds(335_545_209)];
        let status = StatusVector(warned.clone());
        assert!(!status.is_error());
        assert_eq!(status.warnings().collect::<Vec<_>>(), [335_545_208, 335_545_209]);
        assert_eq!((status.lines(false).len(), status.lines(true).len(), status.sqlstate()), (0, 2, "01000"));
        for odd in [StatusArg::Interpreted("why".into()), StatusArg::Number(7), StatusArg::Gds(-1)] {
            assert!(StatusVector(vec![odd]).is_error());
        }
        assert!(!StatusVector(vec![StatusArg::Gds(0)]).is_error() && !StatusVector::default().is_error());
        let failed = vec![StatusArg::Gds(gds::ISC_RANDOM), StatusArg::Text("why".into())];
        let both = StatusVector([failed, warned.clone()].concat());
        assert_eq!(both.errors().collect::<Vec<_>>(), [gds::ISC_RANDOM]);
        assert_eq!((both.lines(false), both.lines(true).len()), (vec!["why".to_owned()], 2));
        assert_eq!(both.without_errors(), StatusVector(warned));
    }
}
