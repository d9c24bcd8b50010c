//! `firearrow create`

use crate::failure::Result;
use crate::{info, open, terminal};
use clap::{Args, ValueHint};

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  firearrow create shop.fdb
  firearrow create 'firebird://SYSDBA@db//data/shop.fdb?page_size=16384'
  firearrow create 'firebird://SYSDBA@db//data/old.fdb?db_charset=WIN1252'

The database has no tables. Its default character set is UTF8 unless db_charset
says otherwise.
Options of the URL: page_size, db_charset, dialect and force_writes. A database
that is there is left alone.")]
pub(crate) struct CreateArgs {
    /// The database, which must not exist
    #[arg(value_name = "FILE|URL", value_hint = ValueHint::AnyPath)]
    url: String,
    /// Do not print what was created
    #[arg(long, short)]
    quiet: bool,
}

pub(crate) fn run(args: &CreateArgs, json: bool) -> Result<()> {
    let config = open::parse(&args.url)?;
    let connection = open::create(&config)?;
    if json {
        info::print_json(&config, &connection)?;
    } else if !args.quiet {
        let info = connection.info()?;
        terminal::remark(&format!(
            "created {}: Firebird {}, ODS {}, pages of {} bytes, {}",
            terminal::line(config.target.database()),
            info.engine_version,
            info.ods,
            info.page_size,
            info.database_charset
        ));
    }
    Ok(connection.close()?)
}
