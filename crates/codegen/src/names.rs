//! Reads the symbolic names of codes from the include files that a Firebird server installs for programs. Clients cannot
//! ask the engine for them, but it can be asked whether it knows one.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::Path;

/// Begins the line of a message with a code that programs know by name. Other macros (`FB_IMPL_MSG_…`) are for messages
/// without such a name.
const LINE: &str = "FB_IMPL_MSG(";
/// Begins each line of `msg_helper.h` that tells the number of a facility.
const FACILITY: &str = "#define FB_IMPL_MSG_FACILITY_";
/// The bits that every gds code has (`ISC_MASK`).
const MASK: i32 = 0x1400_0000;

/// Names by their codes. `includes` is the folder that has `firebird/impl/msg/*.h`, of release 5.0 or later.
pub(crate) fn read(includes: &Path) -> Result<BTreeMap<i32, String>, Box<dyn Error>> {
    let folder = includes.join("firebird/impl");
    let text = fs::read_to_string(folder.join("msg_helper.h"))?;
    let pairs = text.lines().filter_map(|line| line.strip_prefix(FACILITY)?.split_once(' '));
    let facilities: BTreeMap<&str, i32> = pairs
        .map(|(name, number)| Ok((name, number.trim().parse()?)))
        .collect::<Result<_, Box<dyn Error>>>()?;
    let mut names = BTreeMap::new();
    for file in fs::read_dir(folder.join("msg"))? {
        for line in fs::read_to_string(file?.path())?.lines() {
            let Some(arguments) = line.strip_prefix(LINE) else { continue };
            let mut arguments = arguments.split(',').map(str::trim);
            let mut next = || arguments.next().ok_or_else(|| format!("not understood: {line}"));
            let (facility, number, name) = (next()?, next()?, next()?);
            let facility = facilities.get(facility).ok_or_else(|| format!("no such facility: {line}"))?;
            names.insert(MASK | facility << 16 | number.parse::<i32>()?, name.to_owned());
        }
    }
    match names.is_empty() {
        true => Err("the include files have no names: another release?".into()),
        false => Ok(names),
    }
}
