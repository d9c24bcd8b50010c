//! DDL, which is committed immediately, and results that must end for it.

use super::Session;
use crate::activity::Task;
use crate::error::Result;
use crate::option::Purpose;
use crate::sql::name;
use firearrow::{TransactionOptions, gds};
use std::time::{Duration, Instant};
use std::{mem, thread};

/// How long DDL is retried while somebody still uses the object that it changes, and the pause between two attempts:
/// results of this process may just be about to end.
const IN_USE: Duration = Duration::from_secs(1);
const IN_USE_PAUSE: Duration = Duration::from_millis(50);

impl Session {
    /// Runs DDL in a separate transaction, and commits. Retries while others are about to release the object that it
    /// changes.
    pub(crate) fn define(&self, task: &Task, sql: &str) -> Result<()> {
        self.define_with(task, self.transaction_options(Purpose::Ddl)?, sql)
    }

    fn define_with(&self, task: &Task, options: TransactionOptions, sql: &str) -> Result<()> {
        let connection = self.connection()?;
        let deadline = Instant::now() + IN_USE;
        let mut may_give_way = true;
        loop {
            task.check()?;
            self.release_kept();
            let work = || {
                let transaction = connection.begin_lazy(options)?;
                transaction.recall(sql)?.execute_last(transaction, ())
            };
            match work() {
                Err(error)
                    if error.gds_codes().contains(&gds::ISC_OBJ_IN_USE) && Instant::now() < deadline =>
                {
                    if !mem::take(&mut may_give_way) || !self.give_way()? {
                        thread::sleep(IN_USE_PAUSE);
                    }
                }
                result => return Ok(result.map(drop)?),
            }
        }
    }

    /// Drops a table.
    pub(crate) fn drop_table(&self, table: &str) -> Result<()> {
        let options = self.transaction_options(Purpose::Ddl)?;
        let sql = format!("DROP TABLE {}", name(self.dialect()?, table)?);
        self.define_with(&Task::default(), options, &sql)
    }
}
