//! Terminals as tasks: all connections on a few threads, by the asynchronous API.

use crate::failure::Failure;
use crate::input::{Delivery, Input, NewOrder, OrderStatus, Payment, StockLevel};
use crate::plan::Plan;
use crate::run::transactions;
use crate::tally::Tally;
use crate::terminal::{Clock, Conduct, Desk, GLANCE, Turn, Worked};
use crate::way::{Outcome, found, now, parts, sql};
use firearrow::asynchronous::{Connection, Statement, Transaction};
use firearrow::config::Config;
use firearrow::{Decimal, TransactionOptions, params};
use firearrow_bench::{Error, Result};
use std::sync::Arc;
use std::time::Instant;
use tokio::runtime;
use tokio::sync::Barrier;
use tokio::time::sleep;

/// Threads of the runtime.
const THREADS: usize = 2;

/// Runs terminals as tasks, and `during` beside them; when that is done, the clock stops.
pub(crate) fn together<T>(
    config: &Config,
    plan: &Plan,
    during: impl FnOnce(&dyn Conduct) -> Result<T>,
) -> Result<Worked<T>> {
    let runtime = runtime::Builder::new_multi_thread().worker_threads(THREADS).enable_all().build()?;
    let clock = Arc::new(Clock::new());
    let ready = Arc::new(Barrier::new(plan.terminals + 1));
    let tasks: Vec<_> = (0..plan.terminals)
        .map(|terminal| {
            let (config, plan) = (config.clone(), plan.clone());
            runtime.spawn(work(config, plan, terminal, Arc::clone(&clock), Arc::clone(&ready)))
        })
        .collect();
    runtime.block_on(ready.wait());
    let during = during(&*clock);
    clock.stop();
    let mut done = Vec::new();
    for task in tasks {
        let task = runtime.block_on(task);
        done.push(task.map_err(|error| Error::other(format!("a terminal's task: {error}")))?);
    }
    let (tallies, ended): (Vec<_>, Vec<_>) = done.into_iter().unzip();
    Ok(Worked { during: during?, tally: Tally::sum(&tallies), ended })
}

/// Works until the clock stops; returns what was counted, and the error that ended it earlier.
async fn work(
    config: Config,
    plan: Plan,
    terminal: usize,
    clock: Arc<Clock>,
    ready: Arc<Barrier>,
) -> (Tally, Option<String>) {
    let way = Procedures::open(&config, transactions(plan.isolation)).await;
    ready.wait().await;
    let mut desk = Desk::new(&plan, terminal, &clock);
    let ended = match way {
        Ok(way) => operations(&way, &clock, &mut desk).await,
        Err(error) => Err(error.into()),
    };
    desk.end(ended)
}

async fn operations(way: &Procedures, clock: &Clock, desk: &mut Desk<'_>) -> Result<(), Failure> {
    while let Some((input, start)) = desk.next() {
        if !pause_until(clock, start.at).await {
            desk.stopped(start);
            break;
        }
        let mut turn = Turn::new(&input, start);
        loop {
            let failure = match way.perform(&input).await {
                Ok(outcome) => {
                    turn.done(&input, outcome, desk)?;
                    break;
                }
                Err(error) => Failure::from(error),
            };
            match turn.failed(failure, way.connection.is_failed(), desk)? {
                Some(pause) => sleep(pause).await,
                None => break,
            }
        }
    }
    Ok(())
}

/// Waits; whether the clock is still running.
async fn pause_until(clock: &Clock, at: Instant) -> bool {
    loop {
        let left = at.saturating_duration_since(Instant::now());
        match (clock.is_running(), left.is_zero()) {
            (false, _) => return false,
            (true, true) => return true,
            (true, false) => sleep(left.min(GLANCE)).await,
        }
    }
}

/// Operations as calls of stored procedures.
struct Procedures {
    options: TransactionOptions,
    new_order: Statement,
    payment: Statement,
    order_status: Statement,
    delivery: Statement,
    stock_level: Statement,
    connection: Connection,
}

impl Procedures {
    async fn open(config: &Config, options: TransactionOptions) -> firearrow::Result<Self> {
        let connection = Connection::open(config).await?;
        let transaction = connection.begin(options).await?;
        let prepared = Self {
            options,
            new_order: transaction.prepare(sql::CALL_NEW_ORDER).await?,
            payment: transaction.prepare(sql::CALL_PAYMENT).await?,
            order_status: transaction.prepare(sql::CALL_ORDER_STATUS).await?,
            delivery: transaction.prepare(sql::CALL_DELIVERY).await?,
            stock_level: transaction.prepare(sql::CALL_STOCK_LEVEL).await?,
            connection,
        };
        transaction.commit().await?;
        Ok(prepared)
    }

    async fn begin(&self) -> firearrow::Result<Transaction> {
        self.connection.begin_lazy(self.options).await
    }

    async fn perform(&self, input: &Input) -> firearrow::Result<Outcome> {
        match input {
            Input::NewOrder(input) => self.new_order(input).await,
            Input::Payment(input) => self.payment(input).await,
            Input::OrderStatus(input) => self.order_status(input).await,
            Input::Delivery(input) => self.delivery(input).await,
            Input::StockLevel(input) => self.stock_level(input).await,
        }
    }

    async fn new_order(&self, input: &NewOrder) -> firearrow::Result<Outcome> {
        let transaction = self.begin().await?;
        let count = input.lines.len() as i16;
        let parameters =
            params![input.warehouse, input.district, input.customer, count, input.packed_lines(), now()];
        let made = self
            .new_order
            .one_row(&transaction, parameters, |row| Ok((row.get::<i16>(0)?, row.get::<i32>(1)?)))
            .await?;
        let (status, order) = found(made, "the status of an order")?;
        if status != 0 {
            transaction.rollback().await?;
            return Ok(Outcome::Refused);
        }
        transaction.commit().await?;
        Ok(Outcome::Ordered { order, lines: input.lines.len() as u64 })
    }

    async fn payment(&self, input: &Payment) -> firearrow::Result<Outcome> {
        let (number, name) = parts(&input.customer);
        let (warehouse, district) = input.from;
        let amount = Decimal::new(input.cents.into(), 2);
        let transaction = self.begin().await?;
        let parameters =
            params![input.warehouse, input.district, warehouse, district, number, name, amount, now()];
        let customer = self.payment.one_row(&transaction, parameters, |row| row.get::<i32>(0)).await?;
        found(customer, "the customer who pays")?;
        transaction.commit().await?;
        Ok(Outcome::Paid { cents: input.cents })
    }

    async fn order_status(&self, input: &OrderStatus) -> firearrow::Result<Outcome> {
        let (number, name) = parts(&input.customer);
        let transaction = self.begin().await?;
        let parameters = params![input.warehouse, input.district, number, name];
        let mut rows = 0;
        let mut cursor = self.order_status.query(&transaction, parameters).await?;
        while let Some(batch) = cursor.next_batch().await? {
            rows += batch.num_rows() as u64;
        }
        drop(cursor);
        transaction.commit().await?;
        Ok(Outcome::Read { rows })
    }

    async fn delivery(&self, input: &Delivery) -> firearrow::Result<Outcome> {
        let transaction = self.begin().await?;
        let parameters = params![input.warehouse, input.carrier, now()];
        let delivered = self.delivery.one_row(&transaction, parameters, |row| row.get::<i16>(0)).await?;
        let delivered = found(delivered, "the count of deliveries")?;
        transaction.commit().await?;
        Ok(Outcome::Delivered { orders: u64::from(delivered.unsigned_abs()) })
    }

    async fn stock_level(&self, input: &StockLevel) -> firearrow::Result<Outcome> {
        let transaction = self.begin().await?;
        let parameters = params![input.warehouse, input.district, input.threshold];
        let low = self.stock_level.one_row(&transaction, parameters, |row| row.get::<i32>(0)).await?;
        found(low, "the count of items that are short")?;
        transaction.commit().await?;
        Ok(Outcome::Read { rows: 1 })
    }
}
