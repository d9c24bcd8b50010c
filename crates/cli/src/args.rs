//! The command line.

use crate::adbc::AdbcArgs;
use crate::bench::args::BenchArgs;
use crate::copy::CopyArgs;
use crate::create::CreateArgs;
use crate::ddl::DdlArgs;
use crate::limbo::LimboArgs;
use crate::load::{LoadArgs, delimiter};
use crate::odbc::OdbcArgs;
use crate::oltp::OltpArgs;
use crate::output::Format;
use crate::runner::PlanForm;
use crate::shell::ShellArgs;
use crate::tables::TablesArgs;
use crate::wan::{self, Rate, RoundTrip};
use clap::{ArgAction, ArgMatches, Args, FromArgMatches, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;
use std::net::SocketAddr;
use std::num::{NonZeroU32, NonZeroU64};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// Firebird at Arrow speed.
#[derive(Debug, Parser)]
#[command(name = "firearrow", version, max_term_width = 100, after_help = DATABASES)]
pub(crate) struct Cli {
    /// Print JSON for programs instead of text
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Print the SQLSTATE and codes of an error; with --version, what this is a build of
    #[arg(long, short, global = true)]
    pub(crate) verbose: bool,
    /// Read the password from the first line of FILE
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) password_file: Option<PathBuf>,
    /// Stop after TIME (500ms, 30s, 5min) with exit status 124
    #[arg(long, global = true, value_name = "TIME")]
    pub(crate) timeout: Option<TimeLimit>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Cli {
    /// Returns the time limit of the whole command. `events` enforces the limit itself.
    pub(crate) fn limit(&self) -> Option<Duration> {
        match self.command {
            Command::Events(_) => None,
            _ => self.timeout.map(|limit| limit.0),
        }
    }
}

const DATABASES: &str = "\
Databases:
  firebird://user@host:3050/path/or/alias   a server; ?option=value&… may follow
  host/port:path                            the same, as isql writes it
  /data/file.fdb                            a file, through the embedded engine
  profile://NAME                            a connection profile of ADBC

User and password come from FIREARROW_USER and FIREARROW_PASSWORD, then from
ISC_USER and ISC_PASSWORD. --password-file or FIREARROW_PASSWORD_FILE names a
file whose first line is the password. On a terminal, a command that has a user
and no password asks for it. Keep it out of the command line, which other users
of the machine can read.

For servers on other machines, use ?wire_crypt=required. Without it, a server
that offers no encryption receives everything in clear text, with a warning on
standard error.

Ctrl-C cancels the running request, cleans up and exits within three seconds,
even if the server does not respond. Press it again to exit at once. SIGTERM,
SIGHUP and SIGQUIT do the same.

Exit status:
  0 success, 1 failure, 2 wrong usage,
  124 --timeout, 129 SIGHUP, 130 Ctrl-C, 131 SIGQUIT, 143 SIGTERM.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run SQL statements and print their rows
    #[command(visible_alias = "sql")]
    Query(QueryArgs),
    /// Run SQL interactively
    Shell(ShellArgs),
    /// Write a table or the rows of a query to a Parquet, Arrow, CSV or JSON file
    Copy(CopyArgs),
    /// Load Parquet, Arrow, CSV or JSON files into a table
    Load(LoadArgs),
    /// Print facts about a database and the connection to it
    Info(InfoArgs),
    /// List tables and views
    Tables(TablesArgs),
    /// Print the DDL of an object, or of the whole database
    Ddl(DdlArgs),
    /// List transactions in limbo, and commit them or roll them back
    Limbo(LimboArgs),
    /// Print events as they are posted
    Events(EventsArgs),
    /// Create an empty database
    Create(CreateArgs),
    /// Create tables with known rows for tests and benchmarks
    CreateDemo(DemoArgs),
    /// Run benchmarks
    Bench(BenchArgs),
    /// Load a TPC-C-like workload, and run terminals on it
    Oltp(OltpArgs),
    /// Install the ADBC driver
    Adbc(AdbcArgs),
    /// Install the ODBC driver, and manage its data sources
    Odbc(OdbcArgs),
    /// Forward connections to a server with the delay and rate of a distant one
    WanProxy(WanArgs),
    /// Print the completion script of a shell
    Completions(CompletionArgs),
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  firearrow query 'firebird://alice@db/employee?wire_crypt=required' 'SELECT * FROM COUNTRY'
  firearrow query demo.fdb 'SELECT * FROM T_WIDE WHERE ID = ?' --param 7
  firearrow query demo.fdb 'SELECT * FROM T_WIDE WHERE ID = :id' --param id=7
  firearrow query demo.fdb 'SELECT * FROM T_WIDE' --limit 1000 -o sample.parquet
  firearrow query demo.fdb 'SELECT * FROM T_WIDE' --format json | head -3
  firearrow query firebird://alice@db/employee 'SELECT * FROM COUNTRY' --wire
  echo 'DELETE FROM T_BLOB WHERE ID > 100' | firearrow query demo.fdb -
  firearrow query demo.fdb -f tables.sql -f data.sql
  firearrow query demo.fdb 'DELETE FROM T_BLOB; SELECT COUNT(*) FROM T_BLOB' --autocommit --timing
  firearrow query demo.fdb 'SELECT * FROM T_WIDE WHERE ID = 7' --plan

Several statements are run as isql runs them: they end with a semicolon or with
the SET TERM terminator, DDL is committed at once in a transaction of its own,
and changes are one transaction up to COMMIT, ROLLBACK or the end. The first
error ends the run, and says on which line; what is not committed by then is
rolled back. SET BAIL OFF continues instead.

A table shows NULL as NULL; in CSV a NULL is empty and an empty text is \"\". JSON
has one object per line, in which decimals are strings: nothing is rounded. A
table escapes control characters (\\n, \\u{1b}), wherever it is written; all other
formats contain texts unchanged.")]
pub(crate) struct QueryArgs {
    /// The database
    #[arg(value_hint = ValueHint::Url)]
    pub(crate) url: String,
    /// SQL statements; - reads them from standard input
    pub(crate) sql: Option<String>,
    /// Run the statements of FILE (- is standard input), after SQL if both are given; can be repeated
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) parameters: Parameters,
    /// Output format [default: that of FILE's extension, else json with --json, else table]
    #[arg(long, value_enum)]
    pub(crate) format: Option<Format>,
    #[command(flatten)]
    pub(crate) text: TextArgs,
    /// Write rows to FILE; an existing file is replaced once the new one is complete
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
    /// Stop after N rows, of each query
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u64>,
    /// Make the engine refuse all changes
    #[arg(long)]
    pub(crate) read_only: bool,
    /// Commit every statement at once
    #[arg(long)]
    pub(crate) autocommit: bool,
    /// Print plans, and run nothing: as a tree, or with =legacy as PLAN (…)
    #[arg(long, value_name = "FORM", num_args = 0..=1, require_equals = true, default_missing_value = "explained")]
    pub(crate) plan: Option<PlanForm>,
    /// Print the time and traffic of each statement
    #[arg(long)]
    pub(crate) timing: bool,
    /// Report the cost of each phase on standard error: time, round trips, packets and bytes of the protocol, and the
    /// socket's traffic; one JSON object with --json
    #[arg(long)]
    pub(crate) wire: bool,
}

/// `--param` and `--null-param` in the order given, which derive alone would lose.
#[derive(Debug, Default)]
pub(crate) struct Parameters(pub(crate) Vec<Option<String>>);

impl Args for Parameters {
    fn augment_args(command: clap::Command) -> clap::Command {
        let value = clap::Arg::new("param").long("param").value_name("VALUE").action(ArgAction::Append);
        let null = clap::Arg::new("null_param").long("null-param").action(ArgAction::Append);
        command
            .arg(value.allow_hyphen_values(true).help(
                "Value of the next ? as text, which the server converts; NAME=VALUE where SQL has :NAME",
            ))
            .arg(null.num_args(0).default_missing_value("").help("NULL for the next ?"))
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Parameters {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let values = matches.get_many::<String>("param").unwrap_or_default().cloned().map(Some);
        let indices = matches.indices_of("param").unwrap_or_default();
        let nulls = matches.indices_of("null_param").unwrap_or_default();
        let mut all: Vec<(usize, Option<String>)> = indices.zip(values).collect();
        all.extend(nulls.map(|index| (index, None)));
        all.sort_by_key(|(index, _)| *index);
        Ok(Self(all.into_iter().map(|(_, value)| value).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// How rows are written as text.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct TextArgs {
    /// Leave out the column names, and the counts (table, csv)
    #[arg(long)]
    pub(crate) no_header: bool,
    /// The field separator of CSV: one ASCII character, or tab [default: a comma]
    #[arg(long, value_name = "CHAR", value_parser = delimiter)]
    pub(crate) delimiter: Option<u8>,
}

/// The compression of Parquet pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Compression {
    /// Small, and fast enough for any disk
    #[default]
    Zstd,
    /// Faster to write, larger
    Snappy,
    None,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  firearrow info firebird://alice@db/employee
  firearrow info demo.fdb --json
  firearrow info --engines")]
pub(crate) struct InfoArgs {
    /// The database
    #[arg(value_hint = ValueHint::Url, required_unless_present = "engines")]
    pub(crate) url: Option<String>,
    /// List the embedded engines of this machine, in search order
    #[arg(long, conflicts_with = "url")]
    pub(crate) engines: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  firearrow events firebird://alice@db/shop NEW_ORDER CHANGED_ORDER
  firearrow events firebird://alice@db/shop NEW_ORDER --count 1 --timeout 60s && echo 'an order!'
  firearrow events 'firebird://alice@gate/shop?event_port=13051' NEW_ORDER --json

Each line is an event and how often it was posted since its previous line:
\"NEW_ORDER 2\", or with --json {\"count\":2,\"event\":\"NEW_ORDER\"}. Postings of one
transaction come together, when it commits. The remark \"listening to …\" on
standard error means that no event is missed from then on.

Servers report events on a second connection, to a port of their choice. With a
firewall or a container in between, set RemoteAuxPort in the server's
firebird.conf, let that port through, and give event_host and event_port in the
URL if they differ for this client.

Runs until Ctrl-C (exit status 130), until --count (0), or until --timeout (0,
or 1 when --count is not reached). The time starts with that remark; if
connecting takes longer than both TIME and connect_timeout of the URL, the exit
status is 124.")]
pub(crate) struct EventsArgs {
    /// The database
    #[arg(value_hint = ValueHint::Url)]
    pub(crate) url: String,
    /// Event names (case-sensitive)
    #[arg(value_name = "NAME", required = true)]
    pub(crate) names: Vec<String>,
    /// Stop after N postings
    #[arg(long, value_name = "N")]
    pub(crate) count: Option<NonZeroU32>,
}

/// The value of `--timeout`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimeLimit(pub(crate) Duration);

impl FromStr for TimeLimit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (number, unit) = text.split_at(end);
        let seconds = match unit.trim() {
            "ms" => 1e-3,
            "s" => 1.0,
            "m" | "min" => 60.0,
            _ => f64::NAN,
        };
        let time = number.parse::<f64>().ok().and_then(|n| Duration::try_from_secs_f64(n * seconds).ok());
        time.map(Self).ok_or_else(|| "expected a number with ms, s or min, such as 30s".to_owned())
    }
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  firearrow create-demo demo.fdb --rows 1000000
  firearrow create-demo firebird://SYSDBA@db//data/demo.fdb --rows 100000 --force

Tables:
  T_WIDE   N rows of 22 columns: integers, decimals, times, texts, MD5 digests;
           some of them NULL
  T_INT10  N rows of 10 INTEGER
  T_VC5    N rows of 5 VARCHAR(100)
  T_BLOB   min(N, 1000) rows with a text BLOB of about 3400 bytes
  FIREARROW_DEMO
           rows and checksum of every column, computed from the generated values,
           not from those read back

Every server gets the same rows. A missing database is created, with pages of 16
KiB and without forced writes unless the URL says otherwise (page_size,
force_writes). If interrupted, the database and its complete tables stay. An
incomplete table keeps its complete blocks of 50,000 rows; it has no checksums,
and --force recreates all tables.")]
pub(crate) struct DemoArgs {
    /// The database; created if it does not exist
    #[arg(value_name = "FILE|URL", value_hint = ValueHint::AnyPath)]
    pub(crate) url: String,
    /// Rows of the large tables
    #[arg(long, value_name = "N")]
    pub(crate) rows: NonZeroU64,
    /// Replace existing demo tables
    #[arg(long)]
    pub(crate) force: bool,
    /// Show no progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  firearrow wan-proxy db:3050 --rtt 12.5ms --rate 71Mbit
  firearrow wan-proxy 127.0.0.1:3050 --rtt 80ms --rate unlimited --listen 127.0.0.1:3051
  firearrow wan-proxy '[::1]:3050' --rtt 0ms --rate 512kbit --json

Prints the address that clients must use in place of the server's. Runs until
Ctrl-C or --timeout, and then prints how much data passed through. Each byte is
delayed by half the round trip. All connections share one line per direction;
the rate is that of their payload. Nothing is lost. The round trip of connecting
delays the first bytes.")]
pub(crate) struct WanArgs {
    /// The server
    #[arg(value_name = "HOST:PORT", value_hint = ValueHint::Hostname, value_parser = wan::target)]
    pub(crate) target: String,
    /// Round trip: a number with us, ms or s
    #[arg(long, value_name = "TIME")]
    pub(crate) rtt: RoundTrip,
    /// Bits per second in each direction: a number, optionally with kbit, Mbit or Gbit; or unlimited
    #[arg(long, value_name = "RATE")]
    pub(crate) rate: Rate,
    /// Address to listen on; port 0 picks a free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0")]
    pub(crate) listen: SocketAddr,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  firearrow completions bash > ~/.local/share/bash-completion/completions/firearrow
  firearrow completions zsh > ~/.zfunc/_firearrow
  firearrow completions fish > ~/.config/fish/completions/firearrow.fish")]
pub(crate) struct CompletionArgs {
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    /// Help is wrapped by hand at 80 columns: clap breaks longer lines a second time.
    #[test]
    fn help_fits_a_terminal() {
        fn check(command: &clap::Command, long: &mut Vec<String>) {
            let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            for line in text.lines() {
                let words = line.trim_start().trim_start_matches("sudo ");
                let is_command = words.starts_with("firearrow ") || line.starts_with("      ");
                let most = if is_command { 125 } else { 80 };
                if line.chars().count() > most {
                    long.push(format!("{}: {line}", command.get_name()));
                }
            }
            command.get_subcommands().for_each(|command| check(command, long));
        }
        let mut long = Vec::new();
        check(&Cli::command(), &mut long);
        assert_eq!(long, Vec::<String>::new());
    }

    #[test]
    fn definitions_are_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn time_limits_have_a_unit() {
        for (text, milliseconds) in
            [("30s", 30_000), ("1.5 min", 90_000), ("250ms", 250), ("1m", 60_000), ("0s", 0)]
        {
            assert_eq!(text.parse(), Ok(TimeLimit(Duration::from_millis(milliseconds))), "{text}");
        }
        for text in ["", "30", "s", "-1s", "1h", "1e99s", "99999999999999999999999s"] {
            assert!(text.parse::<TimeLimit>().unwrap_err().contains("ms, s or min"), "{text}");
        }
    }

    #[test]
    fn parameters_keep_their_order() {
        let line =
            ["firearrow", "query", "x", "y", "--param", "1", "--null-param", "--param=-3", "--null-param"];
        let Command::Query(query) = Cli::parse_from(line).command else { panic!("not a query") };
        assert_eq!(query.parameters.0, [Some("1".into()), None, Some("-3".into()), None]);
    }
}
