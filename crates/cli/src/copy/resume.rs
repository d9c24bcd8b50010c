//! What an earlier run has left, and whether it still holds.

use super::plan::Plan;
use super::readers::on_each;
use super::state::{Compared, compare};
use crate::failure::{Failure, Result};
use crate::folder::check;
use crate::folder::manifest::{Copy, Manifest, Part, State};
use crate::terminal;
use firearrow::config::Config;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Fails unless both copy the same.
pub(super) fn check_copy(earlier: &Copy, now: &Copy) -> Result<()> {
    let refused = |what: &str| {
        let text = "--resume continues the same copy only, --force removes the earlier one first";
        Err(Failure::other(format!("{what}; {text}")))
    };
    if earlier.query != now.query {
        return refused(&format!("the folder has a copy of another query: {}", earlier.query));
    }
    if earlier.parameters != now.parameters {
        return refused("the folder has a copy with other parameters");
    }
    if earlier.partition_by != now.partition_by {
        let columns = earlier.partition_by.join(",");
        let what = if columns.is_empty() {
            "without --partition-by".to_owned()
        } else {
            format!("with --partition-by {columns}")
        };
        return refused(&format!("the folder has a copy {what}"));
    }
    if earlier.dialect != now.dialect || earlier.options != now.options {
        let differs = |name: &&String| earlier.options.get(*name) != now.options.get(*name);
        let names = earlier.options.keys().chain(now.options.keys()).find(differs);
        let name = names.map_or("dialect", String::as_str);
        return refused(&format!("the folder has a copy over another kind of connection: {name} differs"));
    }
    if earlier.columns != now.columns {
        return refused("the table was altered since the copy began: its columns are others now");
    }
    Ok(())
}

/// Returns the parts whose files are whole. The others are written again.
pub(super) fn whole_parts(root: &Path, earlier: &Manifest, quiet: bool) -> Result<Vec<Part>> {
    let mut whole = Vec::new();
    for part in &earlier.parts {
        let wrong = part.files.iter().find_map(|entry| check::open(root, entry).err());
        match wrong {
            None => whole.push(part.clone()),
            Some(Failure::Stopped) => return Err(Failure::Stopped),
            Some(why) if !quiet => {
                terminal::remark(&format!("part {} is written again: {}", part.part, why.text(false)));
            }
            Some(_) => {}
        }
    }
    Ok(whole)
}

/// Returns the state of an earlier copy and that of this one, or why they cannot be compared.
pub(super) fn states<'a>(
    plan: &'a Plan,
    earlier: Option<&'a State>,
) -> Result<(&'a State, &'a State), String> {
    earlier.zip(plan.state.as_ref()).ok_or_else(|| {
        plan.why_plain().map_or_else(|| "its rows cannot be compared".to_owned(), ToString::to_string)
    })
}

/// Fails unless the snapshot of this run shows the same rows as the files of an earlier one.
pub(super) fn check_rows(
    config: &Config,
    readers: usize,
    plan: &Plan,
    earlier: Option<&State>,
    whole: &[Part],
) -> Result<()> {
    let refused =
        |what: String| Failure::other(format!("{what}; --force removes the earlier copy and begins anew"));
    if whole.is_empty() {
        return Ok(());
    }
    let (earlier, now) =
        states(plan, earlier).map_err(|why| refused(format!("this copy cannot be continued: {why}")))?;
    if earlier.database != now.database {
        return Err(refused("the folder has a copy of another database".to_owned()));
    }
    if now.before < earlier.before {
        return Err(refused("the database is older than the copy: it was restored".to_owned()));
    }
    if earlier.table != now.table {
        return Err(refused("the table was altered since the copy began".to_owned()));
    }
    let numbers: Vec<usize> = whole.iter().map(|part| part.part).collect();
    let changed: Mutex<Option<(usize, u64, Compared)>> = Mutex::new(None);
    on_each(config, readers, &numbers, |connection, number, failed| {
        let partition = plan.parts().get(number);
        let compared = match partition {
            Some(partition) => compare(connection, partition, earlier)?,
            // The last pages have no rows any more.
            None => Compared { rows: 0, newer: 0 },
        };
        let rows = whole.iter().find(|part| part.part == number).map_or(0, |part| part.rows);
        if compared != (Compared { rows, newer: 0 }) {
            *changed.lock().unwrap_or_else(PoisonError::into_inner) = Some((number, rows, compared));
            failed.store(true, std::sync::atomic::Ordering::Relaxed);
        }
        Ok(())
    })?;
    match changed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        None => Ok(()),
        Some((part, rows, Compared { rows: now, newer })) => Err(refused(format!(
            "the table has changed since the copy began: part {part} has {rows} rows in its files; the table has {now} \
             there, {newer} of them newer than the copy"
        ))),
    }
}
