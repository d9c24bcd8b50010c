//! What a terminal asks for, by clauses 2.4.1 to 2.8.1 of TPC-C.

use crate::random::{Constants, Random, last_name};
use crate::scale::{DISTRICTS, Scale};
use crate::way::Outcome;
use serde::{Deserialize, Serialize};

/// A business operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// A customer orders 5 to 15 items.
    NewOrder,
    /// A customer pays.
    Payment,
    /// What a customer ordered last.
    OrderStatus,
    /// The oldest open order of each district is delivered.
    Delivery,
    /// How many of the items ordered last are short.
    StockLevel,
}

impl Operation {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::NewOrder, Self::Payment, Self::OrderStatus, Self::Delivery, Self::StockLevel];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        ["new order", "payment", "order status", "delivery", "stock level"][self as usize]
    }
}

/// Where terminals work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "snake_case")]
pub enum Locality {
    /// Each terminal at its home warehouse, as in TPC-C: what is in use does not grow with the database. With more
    /// terminals than warehouses they share.
    #[default]
    Home,
    /// At any warehouse, another one each time: everything is in use.
    Uniform,
}

impl Locality {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Home, Self::Uniform];

    /// Its name, as in the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        ["home", "uniform"][self as usize]
    }
}

/// How often each operation comes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "snake_case")]
pub enum Mix {
    /// 10 new orders and 10 payments for one of each other.
    #[default]
    Tpcc,
    /// All alike.
    Equal,
}

impl Mix {
    fn deck(self) -> Vec<Operation> {
        let counts = match self {
            Self::Tpcc => [10, 10, 1, 1, 1],
            Self::Equal => [1; 5],
        };
        Operation::ALL.iter().zip(counts).flat_map(|(operation, count)| vec![*operation; count]).collect()
    }

    /// The share of an operation, from 0 to 1.
    #[must_use]
    pub fn share(self, operation: Operation) -> f64 {
        let deck = self.deck();
        deck.iter().filter(|each| **each == operation).count() as f64 / deck.len() as f64
    }

    /// How many operations a deck has.
    pub(crate) fn cards(self) -> usize {
        self.deck().len()
    }

    /// By how many operations a terminal may be off that share, since its measured time begins and ends within a deck.
    pub(crate) fn slack(self, operation: Operation) -> f64 {
        let share = self.share(operation);
        self.deck().len() as f64 * share * (1.0 - share)
    }
}

/// A customer, by number or by last name.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Customer {
    /// Its number in the district.
    Number(i32),
    /// Its last name, which several have.
    Name(String),
}

/// A line of an order.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Line {
    /// The item.
    pub item: i32,
    /// The warehouse that has it.
    pub supplier: i32,
    /// How many.
    pub quantity: i16,
}

/// A customer orders 5 to 15 items.
#[derive(Clone, Debug, Serialize)]
pub struct NewOrder {
    /// Where.
    pub warehouse: i32,
    /// Which district of it.
    pub district: i32,
    /// Who.
    pub customer: i32,
    /// What.
    pub lines: Vec<Line>,
}

impl NewOrder {
    /// The lines as the procedure takes them: 14 digits each.
    #[must_use]
    pub fn packed_lines(&self) -> String {
        let line = |line: &Line| format!("{:06}{:06}{:02}", line.item, line.supplier, line.quantity);
        self.lines.iter().map(line).collect()
    }
}

/// A customer pays.
#[derive(Clone, Debug, Serialize)]
pub struct Payment {
    /// Where.
    pub warehouse: i32,
    /// Which district of it.
    pub district: i32,
    /// Where the customer is from: warehouse and district.
    pub from: (i32, i32),
    /// Who.
    pub customer: Customer,
    /// Hundredths.
    pub cents: i64,
}

/// What a customer ordered last.
#[derive(Clone, Debug, Serialize)]
pub struct OrderStatus {
    /// Where.
    pub warehouse: i32,
    /// Which district of it.
    pub district: i32,
    /// Who.
    pub customer: Customer,
}

/// The oldest open order of each district is delivered.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Delivery {
    /// Where.
    pub warehouse: i32,
    /// Who carries it.
    pub carrier: i16,
}

/// How many of the items ordered last are short.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct StockLevel {
    /// Where.
    pub warehouse: i32,
    /// Which district of it.
    pub district: i32,
    /// What is below it is short.
    pub threshold: i16,
}

/// What a terminal asks for.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    /// See [`NewOrder`].
    NewOrder(NewOrder),
    /// See [`Payment`].
    Payment(Payment),
    /// See [`OrderStatus`].
    OrderStatus(OrderStatus),
    /// See [`Delivery`].
    Delivery(Delivery),
    /// See [`StockLevel`].
    StockLevel(StockLevel),
}

impl Input {
    /// Which operation it is.
    #[must_use]
    pub fn operation(&self) -> Operation {
        match self {
            Self::NewOrder(_) => Operation::NewOrder,
            Self::Payment(_) => Operation::Payment,
            Self::OrderStatus(_) => Operation::OrderStatus,
            Self::Delivery(_) => Operation::Delivery,
            Self::StockLevel(_) => Operation::StockLevel,
        }
    }
}

/// Lines of the longest order.
const MOST_LINES: u32 = 15;

/// Makes the inputs of a terminal, one after the other.
#[derive(Debug)]
pub(crate) struct Inputs {
    scale: Scale,
    home: Option<u32>,
    mix: Mix,
    deck: Vec<Operation>,
    pub(crate) random: Random,
}

impl Inputs {
    /// `terminal` counts from 0.
    pub(crate) fn new(scale: Scale, locality: Locality, mix: Mix, seed: u64, terminal: usize) -> Self {
        let home = match locality {
            Locality::Home => Some(1 + terminal as u32 % scale.warehouses),
            Locality::Uniform => None,
        };
        Self { scale, home, mix, deck: Vec::new(), random: Random::new(seed, &[99, terminal as u64]) }
    }

    /// Whether that can come of it.
    pub(crate) fn allows(&self, input: &Input, outcome: Outcome) -> bool {
        match (input, outcome) {
            (Input::NewOrder(made), Outcome::Refused) => self.is_wrong(made),
            (Input::NewOrder(made), Outcome::Ordered { lines, .. }) => {
                !self.is_wrong(made) && lines == made.lines.len() as u64
            }
            (Input::Payment(made), Outcome::Paid { cents }) => cents == made.cents,
            (Input::OrderStatus(_), Outcome::Read { rows }) => (1..=MOST_LINES.into()).contains(&rows),
            (Input::Delivery(_), Outcome::Delivered { orders }) => orders <= DISTRICTS.into(),
            (Input::StockLevel(_), Outcome::Read { rows }) => rows == 1,
            _ => false,
        }
    }

    /// Whether there is an item in it that does not exist.
    fn is_wrong(&self, made: &NewOrder) -> bool {
        made.lines.iter().any(|line| line.item > self.scale.items.cast_signed())
    }

    pub(crate) fn next(&mut self) -> Input {
        if self.deck.is_empty() {
            let cards = self.mix.deck();
            self.deck =
                self.random.shuffled(cards.len() as u32).iter().map(|at| cards[*at as usize - 1]).collect();
        }
        let operation = self.deck.pop().expect("a deck has cards");
        let random = &mut self.random;
        let warehouse = self.home.unwrap_or_else(|| random.between(1, self.scale.warehouses));
        let district = random.between(1, DISTRICTS);
        match operation {
            Operation::NewOrder => Input::NewOrder(self.new_order(warehouse, district)),
            Operation::Payment => Input::Payment(self.payment(warehouse, district)),
            Operation::OrderStatus => Input::OrderStatus(OrderStatus {
                warehouse: warehouse.cast_signed(),
                district: district.cast_signed(),
                customer: self.customer(),
            }),
            Operation::Delivery => Input::Delivery(Delivery {
                warehouse: warehouse.cast_signed(),
                carrier: random.between(1, 10) as i16,
            }),
            Operation::StockLevel => Input::StockLevel(StockLevel {
                warehouse: warehouse.cast_signed(),
                district: district.cast_signed(),
                threshold: random.between(10, 20) as i16,
            }),
        }
    }

    fn new_order(&mut self, warehouse: u32, district: u32) -> NewOrder {
        let customer = self.customer_number();
        let count = self.random.between(5, MOST_LINES);
        let is_wrong = self.random.percent(1);
        let lines = (1..=count).map(|number| {
            let item = match is_wrong && number == count {
                // An item that does not exist.
                true => self.scale.items + 1,
                false => self.random.skewed(8191, Constants::RUN.item, 1, self.scale.items),
            };
            let supplier = if self.random.percent(1) { self.other(warehouse) } else { warehouse };
            Line {
                item: item.cast_signed(),
                supplier: supplier.cast_signed(),
                quantity: self.random.between(1, 10) as i16,
            }
        });
        let mut lines: Vec<Line> = lines.collect();
        // Rows of stock are locked in one order by everybody, so that orders wait for each other and no more.
        lines.sort_by_key(|line| (line.item > self.scale.items.cast_signed(), line.supplier, line.item));
        NewOrder { warehouse: warehouse.cast_signed(), district: district.cast_signed(), customer, lines }
    }

    fn payment(&mut self, warehouse: u32, district: u32) -> Payment {
        let from = match self.random.percent(15) {
            true => (self.other(warehouse), self.random.between(1, DISTRICTS)),
            false => (warehouse, district),
        };
        Payment {
            warehouse: warehouse.cast_signed(),
            district: district.cast_signed(),
            from: (from.0.cast_signed(), from.1.cast_signed()),
            customer: self.customer(),
            cents: self.random.between(100, 500_000).into(),
        }
    }

    /// A warehouse that is not this one, if there is another.
    fn other(&mut self, warehouse: u32) -> u32 {
        match self.scale.warehouses {
            1 => warehouse,
            count => (warehouse - 1 + self.random.between(1, count - 1)) % count + 1,
        }
    }

    fn customer_number(&mut self) -> i32 {
        self.random.skewed(1023, Constants::RUN.customer, 1, self.scale.customers).cast_signed()
    }

    fn customer(&mut self) -> Customer {
        if self.random.percent(60) {
            let number = Constants::RUN.last_name(&mut self.random);
            // Smaller databases have fewer names.
            Customer::Name(last_name(number % self.scale.customers.min(1000)))
        } else {
            Customer::Number(self.customer_number())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};

    #[test]
    fn the_mix_is_that_of_the_deck() {
        let mut inputs = Inputs::new(Scale::of(3), Locality::Home, Mix::Tpcc, 1, 4);
        let mut counts: BTreeMap<Operation, u32> = BTreeMap::new();
        for _ in 0..2300 {
            *counts.entry(inputs.next().operation()).or_default() += 1;
        }
        assert_eq!(counts.values().copied().collect::<Vec<_>>(), [1000, 1000, 100, 100, 100]);
        assert_eq!(Mix::Equal.share(Operation::Delivery), 0.2);
    }

    #[test]
    fn terminals_stay_at_home_or_go_everywhere() {
        let places = |locality| -> BTreeSet<i32> {
            let mut inputs = Inputs::new(Scale::of(3), locality, Mix::Tpcc, 1, 4);
            let place = |input| match input {
                Input::NewOrder(NewOrder { warehouse, .. })
                | Input::Payment(Payment { warehouse, .. })
                | Input::OrderStatus(OrderStatus { warehouse, .. })
                | Input::Delivery(Delivery { warehouse, .. })
                | Input::StockLevel(StockLevel { warehouse, .. }) => warehouse,
            };
            (0..100).map(|_| place(inputs.next())).collect()
        };
        assert_eq!(places(Locality::Home), [2].into());
        assert_eq!(places(Locality::Uniform), [1, 2, 3].into());
    }

    #[test]
    fn some_orders_are_wrong_and_some_lines_come_from_elsewhere() {
        let scale = Scale::of(2);
        let mut inputs = Inputs::new(scale, Locality::Home, Mix::Tpcc, 7, 0);
        let (mut orders, mut wrong, mut lines, mut remote) = (0, 0, 0, 0);
        while orders < 5000 {
            let Input::NewOrder(order) = inputs.next() else { continue };
            orders += 1;
            assert!((5..=15).contains(&order.lines.len()));
            wrong += usize::from(order.lines.iter().any(|line| line.item > 100_000));
            lines += order.lines.len();
            remote += order.lines.iter().filter(|line| line.supplier != 1).count();
            // The wrong item comes last, when everything else has been done.
            assert!(order.lines[..order.lines.len() - 1].iter().all(|line| line.item <= 100_000));
        }
        assert!((25..=80).contains(&wrong), "{wrong}");
        assert!((lines / 150..=lines / 66).contains(&remote), "{remote} of {lines}");
    }

    #[test]
    fn only_what_was_asked_for_can_come_of_it() {
        let mut inputs = Inputs::new(Scale::of(1), Locality::Home, Mix::Equal, 7, 0);
        let (mut right, mut wrong) = (0, 0);
        for _ in 0..2000 {
            let input = inputs.next();
            let lines = if let Input::NewOrder(made) = &input { made.lines.len() as u64 } else { 0 };
            let cents = if let Input::Payment(made) = &input { made.cents } else { 0 };
            let outcomes = [
                Outcome::Ordered { order: 3001, lines },
                Outcome::Refused,
                Outcome::Paid { cents },
                Outcome::Read { rows: 1 },
                Outcome::Delivered { orders: 10 },
            ];
            let allowed = outcomes.into_iter().filter(|outcome| inputs.allows(&input, *outcome)).count();
            assert_eq!(allowed, 1, "{input:?}");
            right += usize::from(inputs.allows(&input, Outcome::Ordered { order: 3001, lines }));
            wrong += usize::from(inputs.allows(&input, Outcome::Refused));
            for outcome in [
                Outcome::Ordered { order: 3001, lines: lines + 1 },
                Outcome::Paid { cents: cents + 1 },
                Outcome::Read { rows: 0 },
                Outcome::Delivered { orders: 11 },
            ] {
                assert!(!inputs.allows(&input, outcome), "{input:?} {outcome:?}");
            }
        }
        assert!(right > 350 && wrong > 0, "{right} {wrong}");
    }
}
