//! Descriptions that do not fit into one answer, and answers that are not descriptions.

use crate::player::Delivery;
use crate::requests::FROM_THE_THIRD_COLUMN;
use crate::sessions::Session;
use crate::statements::all_types;
use firearrow_proto::api::describe::{
    DescribeError, Describer, RecordCounts, StatementInfo, StatementKind, prepare_items,
};
use firearrow_proto::api::descriptor::{Descriptor, SqlType};
use firearrow_proto::api::info::statement::{
    BIND as PARAMETERS, DESCRIBE_END as VARIABLE_END, DESCRIBE_VARS as VARIABLES, FIELD, SELECT as COLUMNS,
    SQLDA_SEQ as INDEX, SQLDA_START as FROM, STMT_FLAGS as FLAGS, STMT_TYPE as KIND, TYPE,
};
use firearrow_proto::api::info::{END, TRUNCATED};

#[test]
fn a_cut_description_is_continued_where_it_was_cut() {
    let played = Session::load("describe-truncated-p19").play(Delivery::whole());
    let responses = played.responses();
    let [_started, _allocated, prepared, more, ..] = responses[..] else { panic!("{responses:?}") };
    let mut describer = Describer::new();
    assert_eq!(describer.read(&prepared.data), Ok(false));
    assert_eq!(describer.continuation(), FROM_THE_THIRD_COLUMN);
    // The recorded answer to these items was cut again, within the eighth column.
    assert_eq!(describer.read(&more.data), Ok(false));
    let mut from_the_eighth = FROM_THE_THIRD_COLUMN;
    from_the_eighth[2] = 8;
    assert_eq!(describer.continuation(), from_the_eighth);

    // The rest comes from the recording of the same statement with a large buffer.
    let played = Session::load("describe-types-p19").play(Delivery::whole());
    let whole = &played.responses()[2].data;
    let item = [INDEX, 4, 0, 8, 0, 0, 0];
    let place = whole.windows(item.len()).position(|window| window == item).expect("an eighth column");
    let rest = [&[COLUMNS, VARIABLES, 4, 0, 24, 0, 0, 0][..], &whole[place..]].concat();
    assert_eq!(describer.read(&rest), Ok(true));
    let info = describer.finish();
    assert_eq!((info.kind, info.has_cursor), (StatementKind::Select, true));
    assert_eq!(info.columns, all_types());
}

/// An engine that describes `info` in answers of any length, by the rules of the real one.
struct Engine<'a> {
    info: &'a StatementInfo,
    limit: usize,
}

impl Engine<'_> {
    /// The answer to these items, cut and filled with zeros where it does not fit.
    fn answer(&self, items: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        if self.fill(items, &mut bytes).is_none() {
            bytes.push(TRUNCATED);
            bytes.resize(self.limit, 0);
        }
        bytes
    }

    fn fill(&self, mut items: &[u8], out: &mut Vec<u8>) -> Option<()> {
        let mut first = 1;
        let mut list = &[][..];
        while let [code, rest @ ..] = items {
            items = rest;
            match *code {
                FROM => {
                    first = usize::from(u16::from_le_bytes([rest[1], rest[2]]));
                    items = &rest[3..];
                }
                KIND => self.put(out, KIND, &[1, 0, 0, 0])?,
                FLAGS => self.put(out, FLAGS, &[1, 0, 0, 0])?,
                COLUMNS | PARAMETERS => {
                    list = if *code == COLUMNS { &self.info.columns } else { &self.info.parameters };
                    self.marker(out, *code)?;
                }
                VARIABLES => {
                    self.put(out, VARIABLES, &(list.len() as u32).to_le_bytes())?;
                    for (number, variable) in list.iter().enumerate().skip(first - 1) {
                        self.put(out, INDEX, &(number as u32 + 1).to_le_bytes())?;
                        let number = variable.sql_type.0 | u16::from(variable.nullable);
                        self.put(out, TYPE, &number.to_le_bytes())?;
                        self.put(out, FIELD, variable.field.as_bytes())?;
                        self.marker(out, VARIABLE_END)?;
                    }
                    // The items of a variable end at this marker; all have been answered.
                    let end = items.iter().position(|code| *code == VARIABLE_END)?;
                    items = &items[end + 1..];
                }
                other => panic!("item {other}"),
            }
        }
        self.marker(out, END)
    }

    /// Leaves room for the truncation marker at the end.
    fn put(&self, out: &mut Vec<u8>, code: u8, value: &[u8]) -> Option<()> {
        if out.len() + 3 + value.len() >= self.limit {
            return None;
        }
        out.push(code);
        out.extend((value.len() as u16).to_le_bytes());
        out.extend(value);
        Some(())
    }

    fn marker(&self, out: &mut Vec<u8>, code: u8) -> Option<()> {
        if out.len() + 1 >= self.limit && code != END {
            return None;
        }
        out.push(code);
        Some(())
    }
}

fn variables(count: usize, prefix: &str) -> Vec<Descriptor> {
    let variable = |number| Descriptor {
        sql_type: if number % 2 == 0 { SqlType::LONG } else { SqlType::TEXT },
        nullable: number % 3 == 0,
        field: format!("{prefix}{number}"),
        ..Descriptor::default()
    };
    (0..count).map(variable).collect()
}

#[test]
fn every_buffer_length_leads_to_the_same_description() {
    for (parameters, columns) in [(0, 0), (0, 5), (5, 0), (3, 4), (12, 1)] {
        let info = StatementInfo {
            kind: StatementKind::Select,
            has_cursor: true,
            columns: variables(columns, "COLUMN_"),
            parameters: variables(parameters, "P"),
        };
        for limit in 60..700 {
            let engine = Engine { info: &info, limit };
            let mut describer = Describer::new();
            let mut complete = describer.read(&engine.answer(&prepare_items()));
            let mut rounds = 1;
            while complete == Ok(false) {
                complete = describer.read(&engine.answer(&describer.continuation()));
                rounds += 1;
            }
            assert_eq!(complete, Ok(true), "{parameters} + {columns} in {limit} bytes, answer {rounds}");
            assert_eq!(describer.finish(), info, "{parameters} + {columns} in {limit} bytes");
        }
    }
}

#[test]
fn a_variable_larger_than_the_buffer_is_an_error_not_an_endless_loop() {
    let info = StatementInfo { columns: variables(2, &"X".repeat(80)), ..StatementInfo::default() };
    let engine = Engine { info: &info, limit: 60 };
    let mut describer = Describer::new();
    assert_eq!(describer.read(&engine.answer(&prepare_items())), Ok(false));
    // The list of parameters is known to be empty now; the next answer adds nothing.
    let answer = engine.answer(&describer.continuation());
    assert_eq!(describer.read(&answer), Err(DescribeError("a description that does not advance".into())));
}

#[test]
fn a_description_that_never_begins_is_an_error() {
    let mut describer = Describer::new();
    assert_eq!(describer.read(&[TRUNCATED]), Ok(false));
    assert!(describer.read(&[TRUNCATED]).is_err());
}

/// Items with 4-byte values; markers stand alone.
fn items(list: &[(u8, Option<u32>)]) -> Vec<u8> {
    let item = |&(code, value): &(u8, Option<u32>)| match value {
        Some(value) => [&[code, 4, 0][..], &value.to_le_bytes()].concat(),
        None => vec![code],
    };
    list.iter().flat_map(item).collect()
}

#[test]
fn inconsistent_descriptions_are_refused() {
    let complete =
        [(PARAMETERS, None), (VARIABLES, Some(0)), (COLUMNS, None), (VARIABLES, Some(0)), (END, None)];
    assert_eq!(Describer::new().read(&items(&complete)), Ok(true));
    let one = [(PARAMETERS, None), (VARIABLES, Some(1))];
    for (what, list) in [
        ("fewer variables than announced", vec![(END, None)]),
        ("variable 2 out of order", vec![(INDEX, Some(2))]),
        ("variable 0 out of order", vec![(INDEX, Some(0))]),
        ("more variables than announced", vec![(VARIABLE_END, None), (VARIABLE_END, None)]),
        ("the number of variables changed", vec![(VARIABLES, Some(2))]),
        ("40000 variables", vec![(COLUMNS, None), (VARIABLES, Some(40_000))]),
        ("-1 variables", vec![(COLUMNS, None), (VARIABLES, Some(u32::MAX))]),
        ("an item longer than the answer", vec![(TYPE, None)]),
    ] {
        let bytes = items(&[&one[..], &list].concat());
        assert_eq!(Describer::new().read(&bytes), Err(DescribeError(what.into())));
    }
    for list in [[(VARIABLES, Some(1))], [(VARIABLE_END, None)], [(INDEX, Some(1))]] {
        assert!(Describer::new().read(&items(&list)).is_err(), "outside of a list: {list:?}");
    }
}

#[test]
fn affected_rows_add_up_but_never_overflow() {
    let counts = |list: &[(u8, i64)]| {
        let mut inner: Vec<u8> = list
            .iter()
            .flat_map(|(code, count)| [&[*code, 8, 0][..], &count.to_le_bytes()].concat())
            .collect();
        inner.push(END);
        let mut bytes = vec![23];
        bytes.extend((inner.len() as u16).to_le_bytes());
        bytes.extend(inner);
        bytes
    };
    // Selected rows (13) are not affected rows.
    let all = RecordCounts { selected: 9, inserted: 1, updated: 2, deleted: 3 };
    assert_eq!(RecordCounts::decode(&counts(&[(13, 9), (14, 1), (15, 2), (16, 3)])), Some(all));
    assert_eq!(all.affected(), 6);
    let affected = |bytes: &[u8]| RecordCounts::decode(bytes).map(|counts| counts.affected());
    assert_eq!(affected(&counts(&[(14, -1), (15, 2)])), Some(2));
    assert_eq!(affected(&counts(&[(14, i64::MAX), (15, i64::MAX), (16, i64::MAX)])), Some(u64::MAX));
    assert_eq!(affected(&[END]), None);
    assert_eq!(affected(&[]), None);
}
