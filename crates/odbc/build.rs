//! Binds the library to its own symbols: a driver manager in the same process exports functions of the same names. It stays
//! loaded when somebody unloads it: its threads, such as the one that watches time limits, run its code.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-Bsymbolic");
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
