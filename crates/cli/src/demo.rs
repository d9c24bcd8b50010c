//! `firearrow create-demo`

use crate::args::DemoArgs;
use crate::bench::CommandHost;
use crate::failure::{Failure, Result};
use crate::output;
use firearrow_bench::demo::{self, MOST_ROWS};
use firearrow_bench::text::thousands;

pub(crate) fn run(args: &DemoArgs, json: bool) -> Result<()> {
    let rows = args.rows.get();
    if rows > MOST_ROWS {
        return Err(Failure::usage(format!("--rows: no more than {}", thousands(MOST_ROWS))));
    }
    let config = crate::open::parse(&args.url)?;
    let host = CommandHost { quiet: args.quiet || json };
    let summary = demo::create(&host, &config, rows, args.force)?;
    output::print(&if json { serde_json::to_string_pretty(&summary)? + "\n" } else { summary.text() })
}
