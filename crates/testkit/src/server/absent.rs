//! In place of `local` on systems where tests cannot start servers.

use std::env::consts::OS;

use super::{Facts, Machine};
use crate::generation::Failure;
use crate::{Generation, ServerConfig, Skip};

/// Says how the test would have a server.
pub(super) fn launch(
    generation: Generation,
    _config: &ServerConfig,
) -> Result<(Facts, Box<dyn Machine>), Failure> {
    let target = if OS == "windows" { "test-windows" } else { "test" };
    let reason = format!("tests start servers on Linux only: run `make {target}` there");
    Err(Failure::Missing(Skip::new(generation, reason)))
}
