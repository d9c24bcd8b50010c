//! The loop on an embedded engine.
#![allow(missing_docs, reason = "a test binary has no public interface")]

use firearrow_fbapi::{Library, LoadOptions, Runtime, RuntimeHint};
use firearrow_peers::raw_loop;
use std::io::Write;

const DPB: &[u8] = b"\x01\x1c\x06SYSDBA\x30\x04UTF8\x4d\x00";

#[test]
fn every_row_is_fetched_once() {
    let Some(engine) = std::env::var_os("FIREARROW_ENGINE5") else {
        // Past the capture of the test harness: a skip must be seen.
        let _ = writeln!(std::io::stderr(), "SKIP peers engine 5.0: FIREARROW_ENGINE5 is not set");
        return;
    };
    let runtime = Runtime::discover(&RuntimeHint::at(engine)).unwrap();
    let library = Library::load(&runtime, &LoadOptions::default()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("peers.fdb");
    let attachment = library.create(database.to_str().unwrap(), DPB).unwrap();
    let sql = "with recursive N as (select 1 as I from RDB$DATABASE union all select I + 1 from N where I < 1000) \
               select I, I * 2 from N";
    let result = raw_loop(&attachment, sql).unwrap();
    assert_eq!(result.rows, 1000);
    assert_eq!(result.bytes, 1000 * 18);
    let expected = (1..=1000_u64).fold(0, |sum, number| sum ^ number);
    assert_eq!(result.checksum & 0xffff_ffff, expected);
    let nothing = raw_loop(&attachment, "select 1 from RDB$DATABASE where 1 = 0").unwrap();
    assert_eq!((nothing.rows, nothing.checksum), (0, 0));
    assert!(raw_loop(&attachment, "nonsense").is_err());
}
