//! Connects as the driver would.

use super::TestArgs;
use crate::failure::{Failure, Result};
use crate::info::{aligned, encryption};
use crate::open::{ask_password, check_password_file, open, variable, warn_of_statements};
use crate::{output, terminal};
use firearrow::config::{Config, Target};
use firearrow::{Connection, ServerInfo, WireStats};
use firearrow_bench::text::time;
use firearrow_bench::transport;
use firearrow_odbc::setup;
use serde_json::json;
use std::io;
use std::time::Instant;

pub(super) fn run(args: &TestArgs, json: bool) -> Result<()> {
    let plan = |variable: &dyn Fn(&str) -> Option<String>| {
        setup::plan(&args.text, variable).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Failure::usage(format!("{error}; firearrow odbc dsn list lists them")),
            io::ErrorKind::InvalidInput => Failure::usage(error.to_string()),
            _ => Failure::other(error.to_string()),
        })
    };
    check_password_file("data source or connection string", |others| Ok(plan(others)?.config.password))?;
    let plan = plan(&variable)?;
    for warning in &plan.warnings {
        terminal::remark(&format!("warning: {warning}"));
    }
    let mut config = plan.config;
    ask_password(&mut config)?;
    let since = Instant::now();
    let connection = open(&config).map_err(|error| explained(error.into(), setup::of_connecting))?;
    let seconds = since.elapsed().as_secs_f64();
    let wire = connection.wire_stats();
    for statement in &plan.statements {
        execute(&connection, statement)
            .map_err(|failure| explained(failure, |error| setup::of_statement(statement, error)))?;
    }
    warn_of_statements(&connection);
    let found = Found { config: &config, info: connection.info()?, wire, seconds };
    match json {
        true => output::print_data(&found.as_json()),
        false => output::print(&aligned(&found.lines())),
    }
}

/// Names the keyword that an error of the server comes from.
fn explained(failure: Failure, explain: impl Fn(&str) -> String) -> Failure {
    let text = failure.text(false);
    match explain(&text) {
        // With its codes, and what else is known about it.
        same if same == text => failure,
        explained => Failure::other(explained),
    }
}

/// Executes a statement of CONNSETTINGS; its rows, if any, are not read.
fn execute(connection: &Connection, sql: &str) -> Result<()> {
    match connection.prepare(sql)?.has_rows() {
        true => drop(connection.query(sql)?),
        false => drop(connection.execute(sql)?),
    }
    Ok(())
}

/// What connecting has shown.
struct Found<'a> {
    config: &'a Config,
    info: ServerInfo,
    /// The traffic of connecting alone.
    wire: WireStats,
    seconds: f64,
}

impl Found<'_> {
    fn server(&self) -> Option<String> {
        match &self.config.target {
            Target::Remote { host, port, .. } => Some(format!("{host}:{port}")),
            Target::Embedded { .. } => None,
        }
    }

    fn lines(&self) -> Vec<(&'static str, String)> {
        let info = &self.info;
        let or_none = |text: &str| if text.is_empty() { "none" } else { text }.to_owned();
        let compression = if info.compressed { "yes" } else { "no" };
        vec![
            ("database", self.config.target.database().to_owned()),
            ("server", self.server().unwrap_or_else(|| "none".to_owned())),
            ("engine", info.engine_version.clone()),
            ("implementation", info.implementation.clone()),
            ("transport", transport(self.config, info)),
            ("encryption", encryption(info)),
            ("compression", compression.to_owned()),
            ("user", info.user.clone()),
            ("role", or_none(&info.role)),
            ("connection charset", info.connection_charset.clone()),
            ("database charset", or_none(&info.database_charset)),
            ("type binding", or_none(self.config.set_bind.as_deref().unwrap_or_default())),
            ("round trips", self.wire.round_trips.to_string()),
            ("time to connect", time(self.seconds)),
        ]
    }

    fn as_json(&self) -> String {
        let info = &self.info;
        let value = json!({
            "database": self.config.target.database(),
            "server": self.server(),
            "engine_version": info.engine_version,
            "implementation": info.implementation,
            "protocol": info.protocol,
            "cipher": info.cipher,
            "encrypted": info.cipher.is_some(),
            "compressed": info.compressed,
            "user": info.user,
            "role": info.role,
            "connection_charset": info.connection_charset,
            "database_charset": info.database_charset,
            "set_bind": self.config.set_bind,
            "round_trips": self.wire.round_trips,
            "seconds": self.seconds,
        });
        format!("{value:#}\n")
    }
}
