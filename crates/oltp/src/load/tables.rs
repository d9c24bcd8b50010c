//! The rows of each table, by clause 4.3.3 of TPC-C, as Arrow batches.

use crate::random::{Constants, Random, last_name};
use crate::scale::{DISTRICTS, Scale};
use arrow::array::*;
use arrow::datatypes::{Field, Schema};
use std::sync::Arc;

/// Numbers that keep the generators of the tables apart.
mod stream {
    pub(super) const ITEM: u64 = 1;
    pub(super) const WAREHOUSE: u64 = 2;
    pub(super) const STOCK: u64 = 3;
    pub(super) const DISTRICT: u64 = 4;
    pub(super) const CUSTOMER: u64 = 5;
    pub(super) const ORDER: u64 = 6;
}

/// 2026-01-01 00:00:00 UTC, in microseconds: rows are the same whenever they are loaded.
const LOADED: i64 = 1_767_225_600_000_000;
/// Rows of a batch, roughly.
const ROWS: u32 = 10_000;

/// Rows for one table.
pub(super) struct Part {
    pub(super) table: &'static str,
    pub(super) rows: RecordBatch,
}

/// Collects columns in the order of the table.
struct Columns(Vec<ArrayRef>);

impl Columns {
    fn new() -> Self {
        Self(Vec::new())
    }

    fn ints(mut self, values: impl IntoIterator<Item = u32>) -> Self {
        self.0.push(Arc::new(Int32Array::from_iter_values(values.into_iter().map(u32::cast_signed))));
        self
    }

    fn maybe_ints(mut self, values: impl IntoIterator<Item = Option<u32>>) -> Self {
        self.0.push(Arc::new(
            values.into_iter().map(|value| value.map(u32::cast_signed)).collect::<Int32Array>(),
        ));
        self
    }

    fn texts(mut self, values: impl IntoIterator<Item = String>) -> Self {
        self.0.push(Arc::new(StringArray::from_iter_values(values)));
        self
    }

    /// Decimal numbers without their point.
    fn decimals(mut self, scale: i8, values: impl IntoIterator<Item = i64>) -> Self {
        let array = Decimal128Array::from_iter_values(values.into_iter().map(i128::from));
        self.0.push(Arc::new(array.with_precision_and_scale(18, scale).expect("a scale below 18")));
        self
    }

    fn times(mut self, values: impl IntoIterator<Item = Option<i64>>) -> Self {
        self.0.push(Arc::new(values.into_iter().collect::<TimestampMicrosecondArray>()));
        self
    }

    fn part(self, table: &'static str) -> Part {
        let field =
            |(at, column): (usize, &ArrayRef)| Field::new(at.to_string(), column.data_type().clone(), true);
        let fields: Vec<Field> = self.0.iter().enumerate().map(field).collect();
        let rows =
            RecordBatch::try_new(Arc::new(Schema::new(fields)), self.0).expect("columns of one length");
        Part { table, rows }
    }
}

/// Rows of one kind, each made of several values.
macro_rules! column {
    ($rows:expr, $row:ident => $value:expr) => {
        $rows.iter().map(|$row| $value)
    };
}

/// All items.
pub(super) fn items(scale: Scale, seed: u64) -> impl Iterator<Item = Part> {
    blocks(scale.items).map(move |(first, last)| {
        let mut random = Random::new(seed, &[stream::ITEM, first.into()]);
        struct Item {
            id: u32,
            image: u32,
            name: String,
            price: i64,
            data: String,
        }
        let rows: Vec<Item> = (first..=last)
            .map(|id| Item {
                id,
                image: random.between(1, 10_000),
                name: random.text(14, 24),
                price: random.between(100, 10_000).into(),
                data: original(&mut random),
            })
            .collect();
        Columns::new()
            .ints(column!(rows, row => row.id))
            .ints(column!(rows, row => row.image))
            .texts(column!(rows, row => row.name.clone()))
            .decimals(2, column!(rows, row => row.price))
            .texts(column!(rows, row => row.data.clone()))
            .part("ITEM")
    })
}

/// All rows of a warehouse, table by table.
pub(super) fn warehouse(scale: Scale, seed: u64, warehouse: u32) -> impl Iterator<Item = Part> {
    let home = [one_warehouse(scale, seed, warehouse), districts(scale, seed, warehouse)];
    let stock = blocks(scale.items).map(move |(first, last)| stock(seed, warehouse, first, last));
    let customers = (1..=DISTRICTS).flat_map(move |district| customers(scale, seed, warehouse, district));
    let orders = (1..=DISTRICTS).flat_map(move |district| orders(scale, seed, warehouse, district));
    home.into_iter().chain(stock).chain(customers).chain(orders)
}

/// From and to, both included, of as many numbers as fit in a batch.
fn blocks(count: u32) -> impl Iterator<Item = (u32, u32)> {
    (1..=count).step_by(ROWS as usize).map(move |first| (first, count.min(first + ROWS - 1)))
}

struct Address([String; 5]);

impl Address {
    fn new(random: &mut Random) -> Self {
        let zip = random.digits(4) + "11111";
        Self([random.text(10, 20), random.text(10, 20), random.text(10, 20), letters(random, 2), zip])
    }
}

fn letters(random: &mut Random, length: u32) -> String {
    (0..length).map(|_| char::from(b'A' + random.between(0, 25) as u8)).collect()
}

/// 26 to 50 characters, with "ORIGINAL" in one of ten.
fn original(random: &mut Random) -> String {
    const WORD: &str = "ORIGINAL";
    let mut text = random.text(26, 50);
    if random.percent(10) {
        let at = random.between(0, (text.len() - WORD.len()) as u32) as usize;
        text.replace_range(at..at + WORD.len(), WORD);
    }
    text
}

/// What the customers of a district have paid, in hundredths: 10.00 each.
fn paid(scale: Scale) -> i64 {
    i64::from(scale.customers) * 1000
}

fn one_warehouse(scale: Scale, seed: u64, warehouse: u32) -> Part {
    let mut random = Random::new(seed, &[stream::WAREHOUSE, warehouse.into()]);
    let name = random.text(6, 10);
    let mut columns = Columns::new().ints([warehouse]).texts([name]);
    for part in Address::new(&mut random).0 {
        columns = columns.texts([part]);
    }
    columns
        .decimals(4, [random.between(0, 2000).into()])
        .decimals(2, [paid(scale) * i64::from(DISTRICTS)])
        .part("WAREHOUSE")
}

fn districts(scale: Scale, seed: u64, warehouse: u32) -> Part {
    let mut random = Random::new(seed, &[stream::DISTRICT, warehouse.into()]);
    let rows: Vec<_> = (1..=DISTRICTS)
        .map(|id| (id, random.text(6, 10), Address::new(&mut random).0, random.between(0, 2000)))
        .collect();
    let mut columns = Columns::new()
        .ints(column!(rows, row => row.0))
        .ints(column!(rows, _row => warehouse))
        .texts(column!(rows, row => row.1.clone()));
    for part in 0..5 {
        columns = columns.texts(column!(rows, row => row.2[part].clone()));
    }
    columns
        .decimals(4, column!(rows, row => row.3.into()))
        .decimals(2, column!(rows, _row => paid(scale)))
        .ints(column!(rows, _row => scale.customers + 1))
        .part("DISTRICT")
}

fn stock(seed: u64, warehouse: u32, first: u32, last: u32) -> Part {
    let mut random = Random::new(seed, &[stream::STOCK, warehouse.into(), first.into()]);
    let rows: Vec<_> = (first..=last)
        .map(|id| {
            let quantity = random.between(10, 100);
            let districts: [String; 10] = std::array::from_fn(|_| random.text(24, 24));
            (id, quantity, districts, original(&mut random))
        })
        .collect();
    let mut columns = Columns::new()
        .ints(column!(rows, row => row.0))
        .ints(column!(rows, _row => warehouse))
        .ints(column!(rows, row => row.1));
    for district in 0..10 {
        columns = columns.texts(column!(rows, row => row.2[district].clone()));
    }
    for _ in ["S_YTD", "S_ORDER_CNT", "S_REMOTE_CNT"] {
        columns = columns.ints(column!(rows, _row => 0));
    }
    columns.texts(column!(rows, row => row.3.clone())).part("STOCK")
}

/// Customers of a district, and what each has paid.
fn customers(scale: Scale, seed: u64, warehouse: u32, district: u32) -> [Part; 2] {
    let mut random = Random::new(seed, &[stream::CUSTOMER, warehouse.into(), district.into()]);
    struct Customer {
        id: u32,
        first: String,
        last: String,
        address: [String; 5],
        phone: String,
        has_good_credit: bool,
        discount: i64,
        data: String,
        paid_for: String,
    }
    let rows: Vec<Customer> = (1..=scale.customers)
        .map(|id| Customer {
            id,
            first: random.text(8, 16),
            // Each name once, then by chance.
            last: last_name(if id <= 1000 { id - 1 } else { Constants::LOAD.last_name(&mut random) }),
            address: Address::new(&mut random).0,
            phone: random.digits(16),
            has_good_credit: !random.percent(10),
            discount: random.between(0, 5000).into(),
            data: random.text(300, 500),
            paid_for: random.text(12, 24),
        })
        .collect();
    let mut columns = Columns::new()
        .ints(column!(rows, row => row.id))
        .ints(column!(rows, _row => district))
        .ints(column!(rows, _row => warehouse))
        .texts(column!(rows, row => row.first.clone()))
        .texts(column!(rows, _row => "OE".to_owned()))
        .texts(column!(rows, row => row.last.clone()));
    for part in 0..5 {
        columns = columns.texts(column!(rows, row => row.address[part].clone()));
    }
    let customers = columns
        .texts(column!(rows, row => row.phone.clone()))
        .times(column!(rows, _row => Some(LOADED)))
        .texts(column!(rows, row => if row.has_good_credit { "GC" } else { "BC" }.to_owned()))
        .decimals(2, column!(rows, _row => 5_000_000))
        .decimals(4, column!(rows, row => row.discount))
        .decimals(2, column!(rows, _row => -1000))
        .decimals(2, column!(rows, _row => 1000))
        .ints(column!(rows, _row => 1))
        .ints(column!(rows, _row => 0))
        .texts(column!(rows, row => row.data.clone()))
        .part("CUSTOMER");
    let history = Columns::new()
        .ints(column!(rows, row => row.id))
        .ints(column!(rows, _row => district))
        .ints(column!(rows, _row => warehouse))
        .ints(column!(rows, _row => district))
        .ints(column!(rows, _row => warehouse))
        .times(column!(rows, _row => Some(LOADED)))
        .decimals(2, column!(rows, _row => 1000))
        .texts(column!(rows, row => row.paid_for.clone()))
        .part("HISTORY");
    [customers, history]
}

/// Orders of a district, those that are open, and the lines of all.
fn orders(scale: Scale, seed: u64, warehouse: u32, district: u32) -> Vec<Part> {
    let mut random = Random::new(seed, &[stream::ORDER, warehouse.into(), district.into()]);
    struct Order {
        id: u32,
        customer: u32,
        carrier: Option<u32>,
        lines: u32,
    }
    struct Line {
        order: u32,
        number: u32,
        item: u32,
        is_delivered: bool,
        amount: i64,
        info: String,
    }
    let first_open = scale.customers - scale.open_orders + 1;
    let customers = random.shuffled(scale.customers);
    let orders: Vec<Order> = (1..=scale.customers)
        .zip(customers)
        .map(|(id, customer)| Order {
            id,
            customer,
            carrier: (id < first_open).then(|| random.between(1, 10)),
            lines: random.between(5, 15),
        })
        .collect();
    let lines: Vec<Line> = orders
        .iter()
        .flat_map(|order| (1..=order.lines).map(move |number| (order, number)))
        .map(|(order, number)| {
            let is_delivered = order.id < first_open;
            Line {
                order: order.id,
                number,
                item: random.between(1, scale.items),
                is_delivered,
                amount: if is_delivered { 0 } else { random.between(1, 999_999).into() },
                info: random.text(24, 24),
            }
        })
        .collect();
    let mut parts = vec![
        Columns::new()
            .ints(column!(orders, row => row.id))
            .ints(column!(orders, _row => district))
            .ints(column!(orders, _row => warehouse))
            .ints(column!(orders, row => row.customer))
            .times(column!(orders, _row => Some(LOADED)))
            .maybe_ints(column!(orders, row => row.carrier))
            .ints(column!(orders, row => row.lines))
            .ints(column!(orders, _row => 1))
            .part("ORDERS"),
        Columns::new()
            .ints(first_open..=scale.customers)
            .ints((0..scale.open_orders).map(|_| district))
            .ints((0..scale.open_orders).map(|_| warehouse))
            .part("NEW_ORDER"),
    ];
    parts.extend(lines.chunks(ROWS as usize).map(|rows| {
        Columns::new()
            .ints(column!(rows, row => row.order))
            .ints(column!(rows, _row => district))
            .ints(column!(rows, _row => warehouse))
            .ints(column!(rows, row => row.number))
            .ints(column!(rows, row => row.item))
            .ints(column!(rows, _row => warehouse))
            .times(column!(rows, row => row.is_delivered.then_some(LOADED)))
            .ints(column!(rows, _row => 5))
            .decimals(2, column!(rows, row => row.amount))
            .texts(column!(rows, row => row.info.clone()))
            .part("ORDER_LINE")
    }));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::datatypes::DataType;

    #[test]
    fn rows_are_the_same_for_a_seed_and_as_many_as_the_scale_says() {
        let scale = Scale::tiny(1);
        let count = |table: &str| -> u64 {
            let parts = items(scale, 42).chain(warehouse(scale, 42, 1));
            parts.filter(|part| part.table == table).map(|part| part.rows.num_rows() as u64).sum()
        };
        for (table, rows) in scale.rows() {
            assert_eq!(count(table), rows, "{table}");
        }
        let lines = count("ORDER_LINE");
        assert!((10 * 60 * 5..=10 * 60 * 15).contains(&lines), "{lines}");
        for (one, other) in warehouse(scale, 42, 1).zip(warehouse(scale, 42, 1)) {
            assert_eq!(one.rows, other.rows);
        }
        let other = warehouse(scale, 43, 1).next().expect("a warehouse");
        assert_ne!(warehouse(scale, 42, 1).next().expect("a warehouse").rows, other.rows);
    }

    #[test]
    fn schemas_do_not_change_between_batches() {
        for (one, other) in stock_batches().zip(stock_batches().skip(1)) {
            assert_eq!(one.rows.schema(), other.rows.schema());
        }
        fn stock_batches() -> impl Iterator<Item = Part> {
            blocks(25_000).map(|(first, last)| stock(1, 1, first, last))
        }
        assert_eq!(stock_batches().count(), 3);
        assert_eq!(stock_batches().next().expect("rows").rows.column(0).data_type(), &DataType::Int32);
    }
}
