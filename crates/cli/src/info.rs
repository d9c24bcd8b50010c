//! `firearrow info`

use crate::args::InfoArgs;
use crate::engines;
use crate::failure::Result;
use crate::open::{open, parse};
use crate::output;
use crate::terminal::line;
use firearrow::config::{Config, Target};
use firearrow::{Connection, ServerInfo, Warning};
use firearrow_bench::text::{size, thousands};
use firearrow_bench::transport;
use serde_json::json;

pub(crate) fn run(args: &InfoArgs, json: bool) -> Result<()> {
    let Some(url) = &args.url else { return engines::print(json) };
    let config = parse(url)?;
    let connection = open(&config)?;
    match json {
        true => print_json(&config, &connection),
        false => output::print(&text(&config, &connection)?),
    }
}

/// Prints the facts as one JSON object.
pub(crate) fn print_json(config: &Config, connection: &Connection) -> Result<()> {
    output::print_data(&as_json(config, &connection.info()?, connection.warnings()))
}

/// Returns the facts as text for people.
pub(crate) fn text(config: &Config, connection: &Connection) -> Result<String> {
    Ok(aligned(&lines(config, &connection.info()?)))
}

fn lines(config: &Config, info: &ServerInfo) -> Vec<(&'static str, String)> {
    let yes_no = |yes: bool| if yes { "yes" } else { "no" }.to_owned();
    let or_none = |text: &str| if text.is_empty() { "none" } else { text }.to_owned();
    let server = match &config.target {
        Target::Remote { host, port, .. } => format!("{host}:{port}"),
        Target::Embedded { .. } => "none".to_owned(),
    };
    let bytes = u64::from(info.page_size) * info.pages;
    vec![
        ("database", config.target.database().to_owned()),
        ("server", server),
        ("engine", info.engine_version.clone()),
        ("implementation", info.implementation.clone()),
        ("transport", transport(config, info)),
        ("encryption", encryption(info)),
        ("compression", yes_no(info.compressed)),
        ("user", info.user.clone()),
        ("role", or_none(&info.role)),
        ("attachment", info.attachment.to_string()),
        ("connection charset", info.connection_charset.clone()),
        ("database charset", or_none(&info.database_charset)),
        ("ODS", info.ods.clone()),
        ("dialect", info.dialect.to_string()),
        ("page size", size(info.page_size.into())),
        ("pages", format!("{} ({})", thousands(info.pages), size(bytes))),
        ("forced writes", yes_no(info.forced_writes)),
        ("read only", yes_no(info.read_only)),
    ]
}

/// Returns the cipher, or what its absence means.
pub(crate) fn encryption(info: &ServerInfo) -> String {
    match (&info.cipher, info.protocol) {
        (Some(cipher), _) => cipher.clone(),
        (None, Some(_)) => "none: the connection is in clear text".to_owned(),
        (None, None) => "none".to_owned(),
    }
}

pub(crate) fn aligned(lines: &[(&str, String)]) -> String {
    let width = lines.iter().map(|(key, _)| key.len() + 1).max().unwrap_or(0);
    let line = |(key, value): &(&str, String)| format!("{:width$}  {}\n", format!("{key}:"), line(value));
    lines.iter().map(line).collect()
}

fn as_json(config: &Config, info: &ServerInfo, warnings: &[Warning]) -> String {
    let (host, port) = match &config.target {
        Target::Remote { host, port, .. } => (Some(host), Some(port)),
        Target::Embedded { .. } => (None, None),
    };
    let value = json!({
        "database": config.target.database(),
        "host": host,
        "port": port,
        "embedded": host.is_none(),
        "engine_version": info.engine_version,
        "implementation": info.implementation,
        "protocol": info.protocol,
        "cipher": info.cipher,
        "encrypted": info.cipher.is_some(),
        "warnings": warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "compressed": info.compressed,
        "user": info.user,
        "role": info.role,
        "attachment": info.attachment,
        "connection_charset": info.connection_charset,
        "database_charset": info.database_charset,
        "ods": info.ods,
        "dialect": info.dialect,
        "page_size": info.page_size,
        "pages": info.pages,
        "forced_writes": info.forced_writes,
        "read_only": info.read_only,
    });
    format!("{value:#}\n")
}

#[cfg(test)]
mod tests {
    use super::aligned;

    #[test]
    fn values_stand_below_each_other() {
        let text = aligned(&[("a", "1".into()), ("longer key", "2".into())]);
        assert_eq!(text, "a:           1\nlonger key:  2\n");
    }
}
