//! Scalar functions: `{fn …}`.

use super::claimed::{self, Group, numeric, string, system, timedate};
use super::scan::Translator;
use super::{Context, convert, interval, markers};
use crate::diagnostics::Result;
use firearrow::Dialect;
use firearrow::sql::{Token, TokenKind, tokens};

/// A function of ODBC. Others within `{fn …}` are Firebird's own, and so are forms that are not listed here.
pub(super) struct Function {
    pub(super) name: &'static str,
    pub(super) group: Group,
    pub(super) claim: u32,
    forms: Forms,
    /// What a parameter alone as an argument is cast to, where the server could not tell its type.
    types: &'static [&'static str],
}

/// The SQL of a function. A template contains its arguments as `$1`, or `#1` where an operator comes next to it.
enum Forms {
    /// A template for each number of arguments.
    Templates(&'static [&'static str]),
    /// As above, for Firebird 3 and for later releases.
    Former {
        former: &'static [&'static str],
        modern: &'static [&'static str],
    },
    CurrentDate,
    TimestampAdd,
    TimestampDiff,
    Convert,
}

const DATETIME: &[&str] = &["TIMESTAMP"];
const DOUBLE: &[&str] = &["DOUBLE PRECISION"];

/// Firebird's CURRENT_TIME has a time zone since release 4, which ODBC has not.
const TIME: Forms =
    Forms::Former { former: &["CURRENT_TIME", "CURRENT_TIME($1)"], modern: &["LOCALTIME", "LOCALTIME($1)"] };
const TIMESTAMP: Forms = Forms::Former {
    former: &["CURRENT_TIMESTAMP", "CURRENT_TIMESTAMP($1)"],
    modern: &["LOCALTIMESTAMP", "LOCALTIMESTAMP($1)"],
};

const DAY_NAME: &str = "DECODE(EXTRACT(WEEKDAY FROM $1), 0, 'Sunday', 1, 'Monday', 2, 'Tuesday', 3, 'Wednesday', \
     4, 'Thursday', 5, 'Friday', 6, 'Saturday')";
const MONTH_NAME: &str = "DECODE(EXTRACT(MONTH FROM $1), 1, 'January', 2, 'February', 3, 'March', 4, 'April', 5, 'May', \
     6, 'June', 7, 'July', 8, 'August', 9, 'September', 10, 'October', 11, 'November', 12, 'December')";

/// No template repeats an argument: that would repeat its parameters, and nested calls would grow without limit.
pub(super) const FUNCTIONS: &[Function] = &[
    of("ASCII", string::ASCII, &["ASCII_VAL($1)"]),
    of("BIT_LENGTH", string::BIT_LENGTH, &["BIT_LENGTH($1)"]),
    of("CHAR", string::CHAR, &["ASCII_CHAR($1)"]),
    of("CHAR_LENGTH", string::CHAR_LENGTH, &["CHAR_LENGTH($1)"]),
    of("CHARACTER_LENGTH", string::CHARACTER_LENGTH, &["CHARACTER_LENGTH($1)"]),
    of("CONCAT", string::CONCAT, &["(#1 || #2)"]),
    of("INSERT", string::INSERT, &["OVERLAY($1 PLACING $4 FROM $2 FOR $3)"]).typed(&[
        convert::TEXT,
        "INTEGER",
        "INTEGER",
        convert::TEXT,
    ]),
    of("LCASE", string::LCASE, &["LOWER($1)"]),
    of("LEFT", string::LEFT, &["LEFT($1, $2)"]),
    of("LENGTH", string::LENGTH, &["CHAR_LENGTH(TRIM(TRAILING FROM $1))"]),
    of("LOCATE", string::LOCATE, &["POSITION($1, $2)", "POSITION($1, $2, $3)"]),
    of("LTRIM", string::LTRIM, &["TRIM(LEADING FROM $1)"]),
    of("OCTET_LENGTH", string::OCTET_LENGTH, &["OCTET_LENGTH($1)"]),
    of("POSITION", string::POSITION, &["POSITION($1)"]),
    of("REPEAT", string::REPEAT, &["REPLACE(RPAD('', $2), ' ', $1)"]).typed(&[convert::TEXT, "INTEGER"]),
    of("REPLACE", string::REPLACE, &["REPLACE($1, $2, $3)"]),
    of("RIGHT", string::RIGHT, &["RIGHT($1, $2)"]),
    of("RTRIM", string::RTRIM, &["TRIM(TRAILING FROM $1)"]),
    of("SPACE", string::SPACE, &["RPAD('', $1)"]),
    of("SUBSTRING", string::SUBSTRING, &["SUBSTRING($1 FROM $2)", "SUBSTRING($1 FROM $2 FOR $3)"]),
    of("UCASE", string::UCASE, &["UPPER($1)"]),
    of("ABS", numeric::ABS, &["ABS($1)"]),
    of("ACOS", numeric::ACOS, &["ACOS($1)"]),
    of("ASIN", numeric::ASIN, &["ASIN($1)"]),
    of("ATAN", numeric::ATAN, &["ATAN($1)"]),
    of("ATAN2", numeric::ATAN2, &["ATAN2($1, $2)"]),
    of("CEILING", numeric::CEILING, &["CEILING($1)"]),
    of("COS", numeric::COS, &["COS($1)"]),
    of("COT", numeric::COT, &["COT($1)"]),
    of("DEGREES", numeric::DEGREES, &["(#1 / PI() * 180)"]).typed(DOUBLE),
    of("EXP", numeric::EXP, &["EXP($1)"]),
    of("FLOOR", numeric::FLOOR, &["FLOOR($1)"]),
    of("LOG", numeric::LOG, &["LN($1)"]),
    of("LOG10", numeric::LOG10, &["LOG10($1)"]),
    of("MOD", numeric::MOD, &["MOD($1, $2)"]),
    of("PI", numeric::PI, &["PI()"]),
    of("POWER", numeric::POWER, &["POWER($1, $2)"]),
    of("RADIANS", numeric::RADIANS, &["(#1 / 180e0 * PI())"]).typed(DOUBLE),
    of("RAND", numeric::RAND, &["RAND()"]),
    of("ROUND", numeric::ROUND, &["ROUND($1, $2)"]),
    of("SIGN", numeric::SIGN, &["SIGN($1)"]),
    of("SIN", numeric::SIN, &["SIN($1)"]),
    of("SQRT", numeric::SQRT, &["SQRT($1)"]),
    of("TAN", numeric::TAN, &["TAN($1)"]),
    of("TRUNCATE", numeric::TRUNCATE, &["TRUNC($1, $2)"]),
    special("CURDATE", timedate::CURDATE, Forms::CurrentDate),
    special("CURRENT_DATE", timedate::CURRENT_DATE, Forms::CurrentDate),
    special("CURRENT_TIME", timedate::CURRENT_TIME, TIME),
    special("CURRENT_TIMESTAMP", timedate::CURRENT_TIMESTAMP, TIMESTAMP),
    special("CURTIME", timedate::CURTIME, TIME),
    of("DAYNAME", timedate::DAYNAME, &[DAY_NAME]).typed(DATETIME),
    of("DAYOFMONTH", timedate::DAYOFMONTH, &["EXTRACT(DAY FROM $1)"]).typed(DATETIME),
    of("DAYOFWEEK", timedate::DAYOFWEEK, &["(EXTRACT(WEEKDAY FROM $1) + 1)"]).typed(DATETIME),
    of("DAYOFYEAR", timedate::DAYOFYEAR, &["(EXTRACT(YEARDAY FROM $1) + 1)"]).typed(DATETIME),
    of("EXTRACT", timedate::EXTRACT, &["EXTRACT($1)"]),
    of("HOUR", timedate::HOUR, &["EXTRACT(HOUR FROM $1)"]).typed(DATETIME),
    of("MINUTE", timedate::MINUTE, &["EXTRACT(MINUTE FROM $1)"]).typed(DATETIME),
    of("MONTH", timedate::MONTH, &["EXTRACT(MONTH FROM $1)"]).typed(DATETIME),
    of("MONTHNAME", timedate::MONTHNAME, &[MONTH_NAME]).typed(DATETIME),
    special("NOW", timedate::NOW, TIMESTAMP),
    // EXTRACT(QUARTER …) came with Firebird 5.
    of("QUARTER", timedate::QUARTER, &["CAST(CEILING(EXTRACT(MONTH FROM $1) / 3e0) AS SMALLINT)"])
        .typed(DATETIME),
    // EXTRACT has a fraction, ODBC's function has none.
    of("SECOND", timedate::SECOND, &["TRUNC(EXTRACT(SECOND FROM $1))"]).typed(DATETIME),
    special("TIMESTAMPADD", timedate::TIMESTAMPADD, Forms::TimestampAdd),
    special("TIMESTAMPDIFF", timedate::TIMESTAMPDIFF, Forms::TimestampDiff),
    of("WEEK", timedate::WEEK, &["EXTRACT(WEEK FROM $1)"]).typed(DATETIME),
    of("YEAR", timedate::YEAR, &["EXTRACT(YEAR FROM $1)"]).typed(DATETIME),
    of("DATABASE", system::DATABASE, &["RDB$GET_CONTEXT('SYSTEM', 'DB_NAME')"]),
    of("IFNULL", system::IFNULL, &["COALESCE($1, $2)"]),
    of("USER", system::USER, &["CURRENT_USER"]),
    special("CONVERT", claimed::CONVERT, Forms::Convert),
];

const fn of(name: &'static str, claim: (Group, u32), templates: &'static [&'static str]) -> Function {
    special(name, claim, Forms::Templates(templates))
}

const fn special(name: &'static str, (group, claim): (Group, u32), forms: Forms) -> Function {
    Function { name, group, claim, forms, types: &[] }
}

impl Function {
    const fn typed(self, types: &'static [&'static str]) -> Self {
        Self { types, ..self }
    }

    /// The SQL of a call. `None`: not a form of ODBC.
    fn call(&self, arguments: &[String], context: &Context<'_>) -> Result<Option<String>, &'static str> {
        let templates = match &self.forms {
            Forms::Templates(templates) => templates,
            Forms::Former { former, .. } if context.release < (4, 0) => former,
            Forms::Former { modern, .. } => modern,
            // Dialect 1 has no CURRENT_DATE; its dates are timestamps.
            Forms::CurrentDate if context.dialect == Dialect::One => &["CAST('TODAY' AS TIMESTAMP)"][..],
            Forms::CurrentDate => &["CURRENT_DATE"],
            Forms::TimestampAdd => return interval::add(arguments).map(Some),
            Forms::TimestampDiff => return interval::difference(arguments, context.dialect).map(Some),
            Forms::Convert => return convert::convert(arguments, context).map(Some),
        };
        let template = templates.iter().find(|template| arity(template) == arguments.len());
        Ok(template.map(|template| fill(template, arguments, self.types)))
    }
}

/// Translates the escape after `fn`.
pub(super) fn translate<'s>(
    translator: &mut Translator<'s, '_, '_>,
    open: &Token<'s>,
) -> Result<(String, Token<'s>)> {
    let name = translator.kind(TokenKind::Word);
    let known = name.and_then(|name| FUNCTIONS.iter().find(|function| name.is_word(function.name)));
    if let (Some(name), Some(function)) = (name, known) {
        let is_alone = translator.peek().is_some_and(|next| next.is_symbol('}'));
        let arguments = match translator.symbol('(') {
            Some(_) => Some(arguments(translator, open)?),
            None => is_alone.then(Vec::new),
        };
        if let Some(arguments) = arguments {
            let close = translator.close(open)?;
            let call = function.call(&arguments, translator.context);
            let call = call.map_err(|what| translator.error(name.start, what))?;
            let native = || format!("{}({})", name.text, arguments.join(", "));
            return Ok((call.unwrap_or_else(native), close));
        }
    }
    let piece = translator.piece(name, &['}'])?;
    let close = translator.closed(piece.stop, open)?;
    match piece.text.is_empty() {
        true => Err(translator.error(open.start, "the escape sequence has no function")),
        false => Ok((piece.text.into_owned(), close)),
    }
}

/// The arguments, and the parenthesis after them.
fn arguments<'s>(translator: &mut Translator<'s, '_, '_>, open: &Token<'s>) -> Result<Vec<String>> {
    let mut arguments = Vec::new();
    loop {
        let piece = translator.piece(None, &[',', ')'])?;
        let stop = translator.closed(piece.stop, open)?;
        let is_last = stop.is_symbol(')');
        if piece.text.is_empty() && !(is_last && arguments.is_empty()) {
            return Err(translator.error(stop.start, "an argument is missing"));
        }
        match stop.text {
            "," | ")" if piece.text.is_empty() => {}
            "," | ")" => arguments.push(piece.text.into_owned()),
            _ => return Err(translator.error(stop.start, "expected )")),
        }
        if is_last {
            return Ok(arguments);
        }
    }
}

/// Puts arguments into a template.
pub(super) fn fill(template: &str, arguments: &[String], types: &[&str]) -> String {
    let typed = |at: usize| match types.get(at) {
        Some(sql_type) if arguments[at] == "?" => format!("CAST(? AS {sql_type})"),
        _ => arguments[at].clone(),
    };
    let typed: Vec<String> = (0..arguments.len()).map(typed).collect();
    if keeps_order(template, arguments) {
        return substitute(template, &typed);
    }
    // Parameters keep their order in a derived table.
    let names: Vec<String> = (1..=typed.len()).map(|number| format!("ARGUMENT_{number}")).collect();
    let columns: Vec<String> =
        typed.iter().zip(&names).map(|(value, name)| format!("{value} AS {name}")).collect();
    format!(
        "(SELECT {} FROM (SELECT {} FROM RDB$DATABASE))",
        substitute(template, &names),
        columns.join(", ")
    )
}

/// Whether the arguments with parameters come in their order.
fn keeps_order(template: &str, arguments: &[String]) -> bool {
    placeholders(template).filter(|(_, _, at)| markers(&arguments[*at]) > 0).is_sorted_by_key(|(_, _, at)| at)
}

fn substitute(template: &str, arguments: &[String]) -> String {
    let mut text = String::new();
    let mut rest = 0;
    for (start, is_operand, at) in placeholders(template) {
        text.push_str(&template[rest..start]);
        let argument = &arguments[at];
        match is_operand && tokens(argument).nth(1).is_some() {
            true => text.extend(["(", argument, ")"]),
            false => text.push_str(argument),
        }
        rest = start + 2;
    }
    text.push_str(&template[rest..]);
    text
}

/// The number of arguments that a template takes.
fn arity(template: &str) -> usize {
    placeholders(template).map(|(_, _, at)| at + 1).max().unwrap_or(0)
}

/// The places of arguments in a template: where they are, whether as an operand, and which it is, counted from 0.
fn placeholders(template: &str) -> impl Iterator<Item = (usize, bool, usize)> + '_ {
    template.as_bytes().windows(2).enumerate().filter_map(|(start, pair)| match pair {
        [sign @ (b'$' | b'#'), number @ b'1'..=b'9'] => {
            Some((start, *sign == b'#', usize::from(number - b'1')))
        }
        _ => None,
    })
}
