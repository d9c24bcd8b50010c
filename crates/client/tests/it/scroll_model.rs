//! The same pseudo-random moves on a scrollable cursor and on a plain `Vec` with a position.

use crate::support::{config, rows};
use arrow::array::*;
use arrow::datatypes::Int32Type;
use firearrow::{BatchLimits, Config, Connection, Position, ScrollOptions};
use firearrow_testkit::{Generation, Target};
use std::sync::Arc;

/// A way to scroll, and whether the engine does it.
pub(crate) struct Variant {
    pub(crate) name: &'static str,
    pub(crate) config: Config,
    pub(crate) options: ScrollOptions,
    pub(crate) is_native: bool,
}

/// All ways to scroll in the database at `url`.
pub(crate) fn variants(target: &Target, url: &str) -> Vec<Variant> {
    let config = config(target, url);
    let scrolls = matches!(target, Target::Embedded(_)) || target.generation() >= Generation::V5_0;
    let options = ScrollOptions::default();
    let kept = options.keep_rows(true);
    let variant = |name, config: &Config, options, is_native| {
        let config = config.clone();
        Variant { name, config, options, is_native }
    };
    let mut variants = vec![
        variant("as it comes", &config, options, scrolls),
        variant("with kept rows", &config, kept, false),
    ];
    if matches!(target, Target::Wire(_)) && scrolls {
        let until = |last| Config { protocol: 13..=last, ..config.clone() };
        variants.push(variant("protocol 17", &until(17), options, false));
        variants.push(variant("protocol 18", &until(18), options, true));
    }
    variants
}

/// A row as plain values.
#[derive(Clone, Debug, PartialEq)]
struct Row {
    id: i32,
    name: Option<String>,
    text: Option<String>,
    bytes: Option<Vec<u8>>,
}

const TABLE: &str =
    "CREATE TABLE t (id INTEGER, name VARCHAR(40), txt BLOB SUB_TYPE TEXT, bin BLOB SUB_TYPE BINARY)";

/// Rows with NULLs, empty values, and BLOBs of every length class.
fn sample(count: i32) -> Vec<Row> {
    let length = |id: i32| match id % 10 {
        0 => 0,
        7 => 70_000,
        n => (n * n) as usize * 9,
    };
    let row = |id| Row {
        id,
        name: (id % 4 != 1).then(|| format!("name {id}")),
        text: (id % 5 != 2).then(|| format!("ä{id} ").repeat(length(id) / 20)),
        bytes: (id % 3 != 0).then(|| (0..length(id)).map(|at| (at as i32 * 31 + id) as u8).collect()),
    };
    (1..=count).map(row).collect()
}

fn batch_of(rows: &[Row]) -> RecordBatch {
    let ids: ArrayRef = Arc::new(Int32Array::from_iter_values(rows.iter().map(|row| row.id)));
    let names: ArrayRef = Arc::new(StringArray::from_iter(rows.iter().map(|row| row.name.clone())));
    let texts: ArrayRef = Arc::new(StringArray::from_iter(rows.iter().map(|row| row.text.clone())));
    let bytes: ArrayRef = Arc::new(BinaryArray::from_iter(rows.iter().map(|row| row.bytes.clone())));
    RecordBatch::try_from_iter_with_nullable([
        ("id", ids, true),
        ("name", names, true),
        ("txt", texts, true),
        ("bin", bytes, true),
    ])
    .expect("columns of one length")
}

fn rows_of(batch: &RecordBatch) -> Vec<Row> {
    let ids = batch.column(0).as_primitive::<Int32Type>();
    let names = batch.column(1).as_string::<i32>();
    let texts = batch.column(2).as_string::<i32>();
    let bytes = batch.column(3).as_binary::<i32>();
    let row = |row| Row {
        id: ids.value(row),
        name: names.is_valid(row).then(|| names.value(row).to_owned()),
        text: texts.is_valid(row).then(|| texts.value(row).to_owned()),
        bytes: bytes.is_valid(row).then(|| bytes.value(row).to_owned()),
    };
    (0..batch.num_rows()).map(row).collect()
}

/// What a scrollable cursor is: rows 1 to n, and the places 0 and n + 1.
struct Model<'a> {
    rows: &'a [Row],
    at: i64,
}

impl Model<'_> {
    fn go(&mut self, to: Position) -> Option<Row> {
        let behind = self.rows.len() as i64 + 1;
        let at = match to {
            Position::Next => self.at.saturating_add(1),
            Position::Prior => self.at - 1,
            Position::First => 1,
            Position::Last => behind - 1,
            Position::Absolute(row) if row < 0 => behind.saturating_add(row),
            Position::Absolute(row) => row,
            Position::Relative(by) => self.at.saturating_add(by),
        };
        self.at = at.clamp(0, behind);
        let index = usize::try_from(self.at - 1).ok()?;
        self.rows.get(index).cloned()
    }

    fn fetch(&mut self, to: Position, rows: usize) -> Vec<Row> {
        let on = if to == Position::Prior { Position::Prior } else { Position::Next };
        let mut found = Vec::from_iter(self.go(to));
        while !found.is_empty() && found.len() < rows {
            match self.go(on) {
                Some(row) => found.push(row),
                None => break,
            }
        }
        found
    }
}

/// A generator without a seed from outside: every platform makes the same moves.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }

    /// A move, and how many rows.
    fn roll(&mut self, count: i64) -> (Position, usize) {
        let near = self.below(count as u64 * 2 + 7) as i64 - count - 3;
        let to = match self.below(12) {
            0..=2 => Position::Next,
            3..=5 => Position::Prior,
            6 => Position::First,
            7 => Position::Last,
            8..=9 => Position::Absolute(near),
            10 => Position::Relative(near),
            _ => Position::Relative(near % 4),
        };
        let rows = match self.below(4) {
            0 => self.below(count as u64 * 2 + 2) as usize + 1,
            1 => self.below(12) as usize + 1,
            _ => 1,
        };
        (to, rows)
    }
}

/// Fails unless every way to scroll gives the rows of the model, for results of several lengths.
pub(crate) fn moves_agree(target: &Target) {
    let all = sample(130);
    let url = target.fresh_url();
    let connection = Connection::create(&config(target, &url)).expect("a fresh database");
    connection.execute(TABLE).expect("valid SQL");
    let mut transaction = connection.begin(Default::default()).expect("it starts");
    let insert = transaction.prepare("INSERT INTO t VALUES (?, ?, ?, ?)").expect("valid SQL");
    insert.execute(&mut transaction, batch_of(&all)).expect("they are written");
    drop(insert);
    transaction.commit().expect("it commits");
    connection.close().expect("nothing is open");
    for Variant { name, config, options, is_native } in variants(target, &url) {
        let connection = Connection::open(&config).expect("it opens");
        let transaction = connection.begin(Default::default()).expect("it starts");
        let statement = transaction.prepare("SELECT * FROM t WHERE id <= ? ORDER BY id").expect("valid SQL");
        let limits = BatchLimits::default().rows(17);
        let statement = statement.with_limits(limits).with_scroll_options(options);
        for (count, moves) in [(130, 300), (0, 30), (1, 60), (2, 60), (11, 120)] {
            let parameter: ArrayRef = Arc::new(Int32Array::from(vec![count]));
            let parameters = || firearrow::Params::row([Arc::clone(&parameter)]);
            let expected = &all[..count as usize];
            let plain = rows(statement.query(&transaction, parameters()).expect("it runs"));
            assert_eq!(rows_of(&plain), expected, "{name}");
            let mut model = Model { rows: expected, at: 0 };
            let mut cursor = statement.query_scrollable(&transaction, parameters()).expect("it runs");
            assert_eq!(cursor.is_native(), is_native, "{name}");
            assert_eq!(cursor.schema(), plain.schema(), "{name}");
            let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
            let mut trail = Vec::new();
            for _ in 0..moves {
                let (to, asked) = dice.roll(count.into());
                trail.push((to, asked));
                let wanted = model.fetch(to, asked);
                let batch = cursor.fetch(to, asked);
                let found = batch.unwrap_or_else(|error| panic!("{name}: {trail:?}: {error}"));
                if let Some(batch) = &found {
                    assert_eq!(batch.schema(), plain.schema(), "{name}");
                    assert!(batch.num_rows() > 0, "{name}: {trail:?}");
                }
                let found = found.as_ref().map(rows_of).unwrap_or_default();
                assert!(found == wanted, "{name}, {count} rows, {trail:?}: {found:?} in place of {wanted:?}");
            }
            cursor.close().expect("it is open");
        }
    }
}
