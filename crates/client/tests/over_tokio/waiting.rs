//! The runtime that all tests share.

use std::sync::LazyLock;
use tokio::runtime::{Builder, Handle, Runtime};

static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime"));

/// Waits for a call in this thread.
pub(crate) fn wait<T>(call: impl Future<Output = T>) -> T {
    RUNTIME.block_on(call)
}

/// Drops something where it can end in the background, and waits until its end is on its way.
pub(crate) fn enter() -> tokio::runtime::EnterGuard<'static> {
    RUNTIME.enter()
}

pub(crate) fn handle() -> &'static Handle {
    RUNTIME.handle()
}
