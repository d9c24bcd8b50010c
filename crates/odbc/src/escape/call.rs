//! Calls of procedures and functions: `{call p(…)}` and `{?=call f(…)}`.

use super::Routine;
use super::scan::Translator;
use crate::diagnostics::Result;
use firearrow::sql::{Token, TokenKind};

/// Translates the escape after `call`, or after `?` if it returns a value.
pub(super) fn translate<'s>(
    translator: &mut Translator<'s, '_, '_>,
    open: &Token<'s>,
    returns_value: bool,
) -> Result<(String, Token<'s>)> {
    if returns_value {
        translator.symbol('=').ok_or_else(|| translator.expected("="))?;
        let call = translator.kind(TokenKind::Word).filter(|word| word.is_word("call"));
        call.ok_or_else(|| translator.error(open.start, "expected {?=call …}"))?;
    }
    let names = names(translator)?;
    let mut arguments = arguments(translator, open)?;
    let close = translator.close(open)?;
    while translator.symbol(';').is_some() {}
    if translator.peek().is_some() {
        return Err(translator.expected("the end of the statement after {call}"));
    }
    (translator.is_call, translator.returns_value) = (true, returns_value);

    let routine = routine(translator, &names);
    if let Some(Routine::Procedure { inputs, .. }) = routine {
        translator.outputs = take_outputs(&mut arguments, inputs);
    }
    let wants_row = returns_value || translator.outputs > 0;
    let written = names.iter().map(|name| name.text).collect::<Vec<_>>().join(".");
    let list = if arguments.is_empty() { String::new() } else { format!("({})", arguments.join(", ")) };
    let text = match routine {
        Some(Routine::Function) => format!("SELECT {written}({}) FROM RDB$DATABASE", arguments.join(", ")),
        Some(Routine::Procedure { is_selectable: true, .. }) if !wants_row => {
            format!("SELECT * FROM {written}{list}")
        }
        // It returns one row of outputs, which parameters can receive.
        _ => format!("EXECUTE PROCEDURE {written}{list}"),
    };
    Ok((text, close))
}

/// The parts of the routine's name.
fn names<'s>(translator: &mut Translator<'s, '_, '_>) -> Result<Vec<Token<'s>>> {
    let mut names = Vec::new();
    loop {
        let name = translator.kind(TokenKind::Word).or_else(|| translator.kind(TokenKind::QuotedName));
        names.push(name.ok_or_else(|| translator.expected("the name of a procedure"))?);
        if translator.symbol('.').is_none() {
            return Ok(names);
        }
    }
}

/// The arguments. Those left out at the end take their defaults.
fn arguments<'s>(translator: &mut Translator<'s, '_, '_>, open: &Token<'s>) -> Result<Vec<String>> {
    let mut arguments = Vec::new();
    if translator.symbol('(').is_none() {
        return Ok(arguments);
    }
    loop {
        let piece = translator.piece(None, &[',', ')'])?;
        let stop = translator.closed(piece.stop, open)?;
        arguments.push(piece.text.into_owned());
        match stop.text {
            "," => {}
            ")" => break,
            _ => return Err(translator.error(stop.start, "expected )")),
        }
    }
    while arguments.last().is_some_and(String::is_empty) {
        arguments.pop();
    }
    if arguments.iter().any(String::is_empty) {
        return Err(translator.error(open.start, "only the last arguments can be left out"));
    }
    Ok(arguments)
}

/// Takes away the markers after the last input, which stand for outputs: those are no arguments.
fn take_outputs(arguments: &mut Vec<String>, inputs: usize) -> usize {
    let last_value = arguments.iter().rposition(|argument| argument != "?");
    let first = last_value.map_or(0, |last| last + 1).max(inputs).min(arguments.len());
    arguments.drain(first..).count()
}

/// What the name stands for. Names with a schema are left to the server.
fn routine(translator: &mut Translator<'_, '_, '_>, names: &[Token<'_>]) -> Option<Routine> {
    let names: Vec<String> = names.iter().map(stored).collect();
    match names.as_slice() {
        [name] => (translator.context.routine)(None, name),
        [package, name] => (translator.context.routine)(Some(package), name),
        _ => None,
    }
}

/// The name as the catalog spells it.
fn stored(name: &Token<'_>) -> String {
    if name.kind == TokenKind::Word {
        return name.text.to_ascii_uppercase();
    }
    let inner = name.text.strip_prefix('"').unwrap_or(name.text);
    inner.strip_suffix('"').unwrap_or(inner).replace("\"\"", "\"")
}
