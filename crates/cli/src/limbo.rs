//! `firearrow limbo`: transactions that were prepared for a two-phase commit, and that nobody has decided about.

use crate::failure::{Failure, Result};
use crate::interrupt;
use crate::open::{open, parse};
use crate::output::{self, counted};
use crate::terminal::{self, line};
use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand, ValueHint};
use firearrow::Connection;
use firearrow::catalog::LimboTransaction;
use firearrow_bench::text::aligned;
use serde_json::{Value, json};

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  firearrow limbo list firebird://alice@db/employee
  firearrow limbo list demo.fdb --json | jq .transaction
  firearrow limbo commit demo.fdb 17 18
  firearrow limbo rollback demo.fdb --message 'job 7f3a'

A two-phase commit prepares a transaction in each database before it commits
any of them. What is left when a program dies in between is in limbo: whoever
reads its rows gets an error until somebody decides. If one transaction of the
same job has been committed, the others must be, too. A job of Spark or Ray
that has decided lists what to commit. Let one program decide at a time.
Firebird 3 first waits for those that connections still hold: --timeout.

With --json each line is {\"transaction\":…,\"message\":…}, with message_hex for one
that is not UTF-8, or {\"transaction\":…,\"outcome\":\"committed\"}.")]
pub(crate) struct LimboArgs {
    #[command(subcommand)]
    command: LimboCommand,
}

#[derive(Debug, Subcommand)]
enum LimboCommand {
    /// List the transactions in limbo that no connection holds
    List(ListArgs),
    /// Commit transactions in limbo
    Commit(EndArgs),
    /// Roll back transactions in limbo
    Rollback(EndArgs),
}

#[derive(Args, Debug)]
struct ListArgs {
    /// The database
    #[arg(value_hint = ValueHint::Url)]
    url: String,
    /// Only those whose message begins with TEXT
    #[arg(long, value_name = "TEXT")]
    message: Option<String>,
}

#[derive(Args, Debug)]
struct EndArgs {
    /// The database
    #[arg(value_hint = ValueHint::Url)]
    url: String,
    /// The transactions, by number
    #[arg(required_unless_present = "message", conflicts_with = "message")]
    numbers: Vec<u64>,
    /// All whose message begins with TEXT
    #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    message: Option<String>,
}

pub(crate) fn run(args: &LimboArgs, json: bool) -> Result<()> {
    match &args.command {
        LimboCommand::List(args) => list(args, json),
        LimboCommand::Commit(args) => end(args, true, json),
        LimboCommand::Rollback(args) => end(args, false, json),
    }
}

fn list(args: &ListArgs, json: bool) -> Result<()> {
    let connection = open(&parse(&args.url)?)?;
    let found = found(&connection, args.message.as_deref())?;
    match json {
        true => {
            output::print_data(&found.iter().map(|one| format!("{}\n", as_json(one))).collect::<String>())
        }
        false if found.is_empty() => {
            terminal::remark("no transactions in limbo");
            Ok(())
        }
        false => output::print(&text(&found)),
    }
}

/// Decides about each, also if another cannot be decided.
fn end(args: &EndArgs, is_commit: bool, json: bool) -> Result<()> {
    let connection = open(&parse(&args.url)?)?;
    let numbers = match args.message.as_deref() {
        None => args.numbers.clone(),
        Some(start) => {
            let found = found(&connection, Some(start))?;
            check_jobs(&found)?;
            let numbers: Vec<u64> = found.iter().map(|one| one.number).collect();
            if numbers.is_empty() {
                return Err(Failure::other(format!(
                    "no transaction in limbo has a message that begins with {}: firearrow limbo list shows them",
                    line(start)
                )));
            }
            numbers
        }
    };
    let outcome = if is_commit { "committed" } else { "rolled back" };
    let (mut failed, mut printed) = (0, Ok(()));
    for number in numbers {
        interrupt::check()?;
        let ended = connection.recover(number).and_then(|transaction| match is_commit {
            true => transaction.commit(),
            false => transaction.rollback(),
        });
        match ended {
            // Who cannot be told of one still wants all of them decided.
            Ok(()) => {
                let told = match json {
                    true => output::print_data(&format!(
                        "{}\n",
                        json!({ "transaction": number, "outcome": outcome })
                    )),
                    false => output::print(&format!("{number} {outcome}\n")),
                };
                printed = printed.and(told);
            }
            // Nothing more can be asked.
            Err(error) if connection.is_failed() => return Err(error.into()),
            Err(error) => {
                terminal::remark(&Failure::from(error).text(false));
                failed += 1;
            }
        }
    }
    match failed {
        0 => printed,
        failed => Err(Failure::other(counted(failed, "transaction", &format!(" not {outcome}")))),
    }
}

/// The transactions in limbo whose message begins with this text.
fn found(connection: &Connection, start: Option<&str>) -> Result<Vec<LimboTransaction>> {
    let mut found = connection.catalog()?.limbo_transactions()?;
    found.retain(|one| start.is_none_or(|start| one.message.starts_with(start.as_bytes())));
    Ok(found)
}

/// Fails if a job of the Python package has decided about some of them: one decision about all would be wrong.
fn check_jobs(found: &[LimboTransaction]) -> Result<()> {
    let record = found.iter().find_map(|one| {
        let message = std::str::from_utf8(&one.message).ok()?;
        let (job, numbers) = message.strip_prefix("firearrow job ")?.split_once(" commit")?;
        Some((job, numbers.trim(), one.number))
    });
    let Some((job, numbers, record)) = record else { return Ok(()) };
    let (job, numbers) = (line(job), line(numbers));
    Err(Failure::other(format!(
        "job {job} has decided: commit what it lists and then its record, by their numbers ({numbers} {record}), and roll \
         the others back"
    )))
}

fn text(found: &[LimboTransaction]) -> String {
    let mut rows = vec![["transaction", "message"].map(str::to_owned).to_vec()];
    rows.extend(found.iter().map(|one| {
        let message = String::from_utf8_lossy(&one.message);
        vec![one.number.to_string(), line(&message).into_owned()]
    }));
    aligned(&rows, usize::MAX)
}

fn as_json(one: &LimboTransaction) -> Value {
    let number = one.number;
    match std::str::from_utf8(&one.message) {
        Ok(message) => json!({ "transaction": number, "message": message }),
        Err(_) => {
            let hex: String = one.message.iter().map(|byte| format!("{byte:02x}")).collect();
            json!({ "transaction": number, "message_hex": hex })
        }
    }
}
