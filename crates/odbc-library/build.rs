//! How the library is linked.

use std::env::var;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name, value| var(name).is_ok_and(|found| found == value);
    if is("CARGO_CFG_TARGET_OS", "linux") {
        // It is bound to its own symbols: a driver manager in the same process exports functions of the same names.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-Bsymbolic");
        // It stays loaded when somebody unloads it: its threads, such as the one that watches time limits, run its code.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
    if is("CARGO_CFG_TARGET_OS", "windows") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        let folder = var("CARGO_MANIFEST_DIR").expect("cargo sets it");
        println!("cargo::rerun-if-changed=exports.def");
        println!("cargo::rustc-cdylib-link-arg={folder}/exports.def");
    }
}
