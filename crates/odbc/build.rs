//! Binds the library to its own symbols: a driver manager in the same process exports functions of the same names.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-Bsymbolic");
    }
}
