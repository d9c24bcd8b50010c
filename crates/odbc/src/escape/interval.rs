//! TIMESTAMPADD and TIMESTAMPDIFF.

use super::function::fill;
use firearrow::Dialect;

/// A unit of these functions.
pub(super) struct Interval {
    /// Its bit in what is claimed.
    pub(super) claim: u32,
    name: &'static str,
    unit: Unit,
}

enum Unit {
    /// Firebird has it too.
    Same(&'static str),
    Nanosecond,
    Quarter,
}

pub(super) const INTERVALS: [Interval; 9] = [
    Interval { claim: 0x001, name: "SQL_TSI_FRAC_SECOND", unit: Unit::Nanosecond },
    Interval { claim: 0x002, name: "SQL_TSI_SECOND", unit: Unit::Same("SECOND") },
    Interval { claim: 0x004, name: "SQL_TSI_MINUTE", unit: Unit::Same("MINUTE") },
    Interval { claim: 0x008, name: "SQL_TSI_HOUR", unit: Unit::Same("HOUR") },
    Interval { claim: 0x010, name: "SQL_TSI_DAY", unit: Unit::Same("DAY") },
    Interval { claim: 0x020, name: "SQL_TSI_WEEK", unit: Unit::Same("WEEK") },
    Interval { claim: 0x040, name: "SQL_TSI_MONTH", unit: Unit::Same("MONTH") },
    Interval { claim: 0x080, name: "SQL_TSI_QUARTER", unit: Unit::Quarter },
    Interval { claim: 0x100, name: "SQL_TSI_YEAR", unit: Unit::Same("YEAR") },
];

/// Adds units to a timestamp. The cast gives a DATE a time and a TIME the current date, as ODBC wants.
pub(super) fn add(arguments: &[String]) -> Result<String, &'static str> {
    let (unit, rest) = split(arguments)?;
    let (template, count) = match unit {
        Unit::Same(unit) => {
            let template = format!("DATEADD({unit}, $1, CAST($2 AS TIMESTAMP))");
            return Ok(fill(&template, rest, &[]));
        }
        Unit::Nanosecond => ("DATEADD(MILLISECOND, #1 / 1000000.0, CAST($2 AS TIMESTAMP))", "NUMERIC(18, 0)"),
        Unit::Quarter => ("DATEADD(MONTH, #1 * 3, CAST($2 AS TIMESTAMP))", "INTEGER"),
    };
    Ok(fill(template, rest, &[count]))
}

/// The units from one timestamp to another.
pub(super) fn difference(arguments: &[String], dialect: Dialect) -> Result<String, &'static str> {
    let (unit, rest) = split(arguments)?;
    let count = |unit: &str| format!("DATEDIFF({unit}, CAST($1 AS TIMESTAMP), CAST($2 AS TIMESTAMP))");
    let template = match unit {
        Unit::Same(unit) => count(unit),
        // Dialect 1 has no BIGINT. Otherwise two steps keep tenths of milliseconds, and reach as far as BIGINT does.
        Unit::Nanosecond if dialect == Dialect::One => format!("({} * 1000000)", count("MILLISECOND")),
        Unit::Nanosecond => {
            format!("CAST(CAST({} * 10 AS BIGINT) * 100000 AS BIGINT)", count("MILLISECOND"))
        }
        Unit::Quarter => format!("CAST(TRUNC({} / 3) AS INTEGER)", count("MONTH")),
    };
    Ok(fill(&template, rest, &[]))
}

/// The unit, and the two other arguments.
fn split(arguments: &[String]) -> Result<(&'static Unit, &[String]), &'static str> {
    let [name, rest @ ..] = arguments else { return Err("three arguments expected") };
    let interval = INTERVALS.iter().find(|interval| name.eq_ignore_ascii_case(interval.name));
    let interval = interval.ok_or("unknown interval")?;
    if rest.len() == 2 { Ok((&interval.unit, rest)) } else { Err("three arguments expected") }
}
