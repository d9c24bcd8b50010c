//! The driver, which creates databases.

use crate::database::Database;
use crate::error::Result;
use crate::panic::contain;
use adbc_core::options::{OptionDatabase, OptionValue};

/// The ADBC driver for Firebird.
#[derive(Clone, Copy, Debug, Default)]
pub struct Driver;

impl adbc_core::Driver for Driver {
    type DatabaseType = Database;

    fn new_database(&mut self) -> Result<Database> {
        self.new_database_with_opts([])
    }

    fn new_database_with_opts(
        &mut self,
        opts: impl IntoIterator<Item = (OptionDatabase, OptionValue)>,
    ) -> Result<Database> {
        contain(|| (), || Database::new(opts))
    }
}
