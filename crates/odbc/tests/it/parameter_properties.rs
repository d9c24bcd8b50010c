//! Random sets of parameters, written in every form, and read back as literals on the server compare them.

use crate::odbc::*;
use crate::parameter::*;
use crate::support::{Connection, fresh};
use firearrow_testkit::{Target, matrix};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

/// One set: what is stored.
#[derive(Clone, Debug)]
struct Row {
    integer: Option<i32>,
    big: Option<i64>,
    /// Hundredths.
    number: Option<i32>,
    text: Option<String>,
    bytes: Option<Vec<u8>>,
    day: Option<(i16, u16, u16)>,
}

/// How sets are given.
#[derive(Clone, Copy, Debug)]
struct Form {
    by_row: bool,
    wide: bool,
    numbers_as_text: bool,
    at_execution: bool,
    ignores: bool,
    sets: usize,
}

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let character = prop_oneof![prop::char::range(' ', '~'), Just('é'), Just('€'), Just('😀'), Just('\'')];
    let text = vec(character, 0..12).prop_map(|characters| characters.into_iter().collect::<String>());
    let row = (
        option::of(any::<i32>()),
        option::of(any::<i64>()),
        option::of(-999_999_999..=999_999_999),
        option::of(text),
        option::of(vec(any::<u8>(), 0..9)),
        option::of((1_i16..=9999, 1_u16..=12, 1_u16..=28)),
    );
    let row = row.prop_map(|(integer, big, number, text, bytes, day)| Row {
        integer,
        big,
        number,
        text,
        bytes,
        day,
    });
    vec(row, 1..60)
}

fn form() -> impl Strategy<Value = Form> {
    let flags = any::<[bool; 5]>();
    (flags, 1_usize..70).prop_map(|([by_row, wide, numbers_as_text, at_execution, ignores], sets)| Form {
        by_row,
        wide,
        numbers_as_text,
        at_execution,
        ignores,
        sets,
    })
}

fn hundredths(value: i32) -> String {
    format!(
        "{}{}.{:02}",
        if value < 0 { "-" } else { "" },
        value.unsigned_abs() / 100,
        value.unsigned_abs() % 100
    )
}

/// The values of some sets in the application's types.
fn columns(first: usize, rows: &[Row], form: Form) -> Vec<Values> {
    let all = |c_type, sql_type, bytes: &dyn Fn(&Row) -> Option<Vec<u8>>| {
        Values::of(c_type, sql_type, &rows.iter().map(bytes).collect::<Vec<_>>())
    };
    let ids: Vec<_> = (first..first + rows.len()).map(|id| Some(id as i32)).collect();
    let big = |row: &Row| row.big.map(|value| value.to_ne_bytes().to_vec());
    let big_text = |row: &Row| row.big.map(|value| value.to_string().into_bytes());
    let text = |row: &Row| row.text.as_ref().map(|text| text.clone().into_bytes());
    let wide = |row: &Row| row.text.as_deref().map(units);
    let numeric = |row: &Row| {
        row.number.map(|value| {
            let mut bytes = vec![9, 2, u8::from(value >= 0)];
            bytes.extend(u128::from(value.unsigned_abs()).to_le_bytes());
            bytes
        })
    };
    let number_text = |row: &Row| row.number.map(|value| hundredths(value).into_bytes());
    let day = |row: &Row| {
        row.day
            .map(|(year, month, day)| [year.to_ne_bytes(), month.to_ne_bytes(), day.to_ne_bytes()].concat())
    };
    vec![
        Values::integers(&ids),
        Values::integers(&rows.iter().map(|row| row.integer).collect::<Vec<_>>()),
        if form.numbers_as_text { all(C_CHAR, 12, &big_text) } else { all(C_SBIGINT, -5, &big) },
        if form.numbers_as_text {
            all(C_CHAR, 12, &number_text)
        } else {
            all(C_NUMERIC, 2, &numeric).with_digits(9, 2)
        },
        if form.wide { all(C_WCHAR, -9, &wide) } else { all(C_CHAR, 12, &text) },
        all(C_BINARY, -3, &|row| row.bytes.clone()),
        all(C_DATE, 91, &day),
    ]
}

/// One execution's buffers: each column for itself, or row by row.
fn insert(connection: &Connection, first: usize, rows: &[Row], form: Form) {
    let statement = connection.statement();
    statement.prepare("INSERT INTO T VALUES (?, ?, ?, ?, ?, ?, ?)");
    let mut columns = columns(first, rows, form);
    let kept = columns.clone();
    // A set that is ignored goes in front.
    let skipped = usize::from(form.ignores);
    for values in &mut columns {
        values.data.splice(..0, vec![0xEE; skipped * values.capacity]);
        values.lengths.splice(..0, vec![NULL_DATA; skipped]);
    }
    let sets = rows.len() + skipped;
    let mut operations = vec![0_u16; sets];
    operations[..skipped].fill(1);
    let mut waits = Vec::new();
    for (set, row) in rows.iter().enumerate().filter(|_| form.at_execution) {
        // The text and the bytes of every second set are supplied later.
        for (at, has_value) in [(4, row.text.is_some()), (5, row.bytes.is_some())] {
            if set.is_multiple_of(2) && has_value {
                columns[at].lengths[set + skipped] = if at == 4 { DATA_AT_EXEC } else { -100 };
                waits.push((set, at));
            }
        }
    }
    let width: usize = columns.iter().map(|values| values.capacity + 8).sum();
    let mut memory = vec![0xEE_u8; width * sets];
    if form.by_row {
        assert_eq!(statement.set(PARAM_BIND_TYPE, width), SUCCESS);
    }
    let mut at = 0;
    for (number, values) in (1..).zip(&mut columns) {
        if !form.by_row {
            statement.bind(number, INPUT, values);
            continue;
        }
        for set in 0..sets {
            let value = &values.data[set * values.capacity..][..values.capacity];
            memory[set * width + at..][..values.capacity].copy_from_slice(value);
            memory[set * width + at + values.capacity..][..8]
                .copy_from_slice(&values.lengths[set].to_ne_bytes());
        }
        let data = memory.as_mut_ptr().wrapping_add(at);
        let indicator = data.wrapping_add(values.capacity).cast();
        // SAFETY: the memory has all rows.
        let code = unsafe {
            let Values { c_type, sql_type, size, digits, capacity, .. } = *values;
            let capacity = capacity as isize;
            SQLBindParameter(
                statement.handle,
                number,
                INPUT,
                c_type,
                sql_type,
                size,
                digits,
                data.cast(),
                capacity,
                indicator,
            )
        };
        assert_eq!(code, SUCCESS);
        at += values.capacity + 8;
    }
    assert_eq!(statement.set(PARAMSET_SIZE, sets), SUCCESS);
    statement.set_pointer(PARAM_OPERATION_PTR, operations.as_mut_ptr());
    let mut code = statement.execute();
    for (set, column) in waits {
        assert_eq!(code, NEED_DATA, "{:?}", statement.records());
        assert_eq!(statement.parameter_data().0, NEED_DATA);
        let value = kept[column].received(set).unwrap_or_default();
        // In two pieces, the first of which ends anywhere.
        let (left, right) = value.split_at(value.len() / 2);
        assert_eq!((statement.put_data(left), statement.put_data(right)), (SUCCESS, SUCCESS));
    }
    if code == NEED_DATA {
        code = statement.parameter_data().0;
    }
    assert_eq!(code, SUCCESS, "{form:?} {:?}", statement.records());
    assert_eq!(statement.row_count(), rows.len() as isize);
}

fn one(connection: &Connection, sql: &str) -> String {
    connection.texts(sql)[0][0].clone().unwrap_or_default()
}

/// The condition that a row of the table is this one.
fn condition(id: usize, row: &Row) -> String {
    let is = |column: &str, literal: Option<String>| {
        format!(" AND {column} IS NOT DISTINCT FROM {}", literal.unwrap_or_else(|| "NULL".into()))
    };
    let hex = |bytes: &Vec<u8>| {
        format!("x'{}'", bytes.iter().map(|byte| format!("{byte:02X}")).collect::<String>())
    };
    // Comparisons ignore blanks and zeros at the end, and i64::MIN is no literal.
    let lengths = format!(
        "(V IS NULL OR CHAR_LENGTH(V) = {}) AND (B IS NULL OR OCTET_LENGTH(B) = {})",
        row.text.as_ref().map_or(0, |text| text.chars().count()),
        row.bytes.as_ref().map_or(0, Vec::len),
    );
    [
        format!("(ID = {id} AND {lengths}"),
        is("I", row.integer.map(|value| value.to_string())),
        is("L", row.big.map(|value| format!("CAST('{value}' AS BIGINT)"))),
        is("N", row.number.map(hundredths)),
        is("V", row.text.as_ref().map(|text| format!("'{}'", text.replace('\'', "''")))),
        is("B", row.bytes.as_ref().map(hex)),
        is("D", row.day.map(|(year, month, day)| format!("DATE '{year:04}-{month:02}-{day:02}'"))),
        ")".into(),
    ]
    .concat()
}

matrix!(
    all,
    fn no_row_is_lost_or_altered(target: &Target) {
        let connection = fresh(target);
        connection.run(
            "CREATE TABLE T (ID INTEGER, I INTEGER, L BIGINT, N NUMERIC(9, 2), V VARCHAR(12) CHARACTER SET UTF8, \
             B VARCHAR(8) CHARACTER SET OCTETS, D DATE)",
        );
        let config = Config { cases: 24, failure_persistence: None, ..Config::default() };
        let mut runner = TestRunner::new_with_rng(
            config,
            proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
        );
        let outcome = runner.run(&(rows(), form()), |(rows, form)| {
            connection.run("DELETE FROM T");
            let parts = rows.chunks(form.sets);
            for (part, given) in parts.enumerate() {
                insert(&connection, part * form.sets, given, form);
            }
            let total = rows.len().to_string();
            prop_assert_eq!(one(&connection, "SELECT COUNT(*) FROM T"), total);
            for (id, row) in rows.iter().enumerate() {
                let sql = format!("SELECT COUNT(*) FROM T WHERE {}", condition(id, row));
                prop_assert_eq!(one(&connection, &sql), "1", "{}", sql);
            }
            Ok(())
        });
        outcome.unwrap_or_else(|failure| panic!("{failure}"));
    },
);
