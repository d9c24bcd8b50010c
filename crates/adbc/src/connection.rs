//! Connections: transactions, metadata, and what statements begin with.

use crate::activity::Canceller;
use crate::attachment::Attachment;
use crate::error::{Result, invalid_state, new, not_implemented, of};
use crate::handover::give;
use crate::metadata::{self, ObjectFilter};
use crate::option::{
    CONNECTION, ConnectionOptions, Defaults, Options, StatementOptions, find, not_found, optionable, settable,
};
use crate::reader::Stream;
use crate::statement::Statement;
use adbc_core::error::Status;
use adbc_core::options::{InfoCode, ObjectDepth, OptionConnection, OptionValue};
use arrow::array::{RecordBatch, RecordBatchReader};
use arrow::datatypes::Schema;
use firearrow::{Config, ServerInfo};
use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A connection.
pub struct Connection {
    attachment: Arc<Attachment>,
    statement: StatementOptions,
    /// What the server said of itself.
    info: Mutex<Option<Arc<ServerInfo>>>,
}

type Reader = Box<dyn RecordBatchReader + Send + 'static>;

impl Connection {
    pub(crate) fn open(
        config: &Config,
        defaults: Defaults,
        opts: impl IntoIterator<Item = (OptionConnection, OptionValue)>,
    ) -> Result<Self> {
        let mut defaults = defaults;
        for (key, value) in opts {
            let key = key.as_ref();
            check_names(key, true)?;
            settable(key, CONNECTION)?;
            defaults.set(key, &crate::option::text(key, value)?)?;
        }
        let wanted = defaults.connection.clone();
        let attachment = Arc::new(Attachment::open(config, defaults.connection)?);
        let connection = Self { attachment, statement: defaults.statement, info: Mutex::default() };
        connection.limit_session(&ConnectionOptions::default(), &wanted)?;
        Ok(connection)
    }

    fn contain<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        self.attachment.contain(work)
    }

    /// Tells the server about time limits of the session that have changed.
    fn limit_session(&self, before: &ConnectionOptions, now: &ConnectionOptions) -> Result<()> {
        let statement = Duration::from_millis(now.statement_timeout.into());
        let idle = Duration::from_secs(now.idle_timeout.into());
        let statement = (before.statement_timeout != now.statement_timeout).then_some(statement);
        let idle = (before.idle_timeout != now.idle_timeout).then_some(idle);
        self.attachment.connection()?.limit_session(statement, idle).map_err(of)
    }

    fn info(&self) -> Result<Arc<ServerInfo>> {
        let mut info = self.info.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(info) = &*info {
            return Ok(Arc::clone(info));
        }
        let read = Arc::new(self.attachment.connection()?.info().map_err(of)?);
        *info = Some(Arc::clone(&read));
        Ok(read)
    }

    /// Metadata, which can be cancelled like any other stream.
    fn metadata(&self, read: impl FnOnce(&firearrow::Connection) -> Result<RecordBatch>) -> Result<Reader> {
        let task = self.attachment.begin_task();
        let batch = self.contain(|| task.run(|| read(self.attachment.connection()?)))?;
        let stream = Stream::of_batches(batch.schema(), [batch]).within(&self.attachment, &task);
        Ok(give(stream, None))
    }

    fn finish(&self, commit: bool) -> Result<()> {
        if self.attachment.is_autocommit() {
            return Err(invalid_state(
                "the connection is in autocommit mode: there is no transaction to end",
            ));
        }
        self.contain(|| self.attachment.end(commit))
    }
}

/// There are neither catalogs nor schemas.
fn check_names(key: &str, set: bool) -> Result<()> {
    if !matches!(key, "adbc.connection.catalog" | "adbc.connection.db_schema") {
        return Ok(());
    }
    let text = format!("{key}: this database has neither catalogs nor schemas");
    Err(if set { not_implemented(text) } else { new(Status::NotFound, text) })
}

impl Options for Connection {
    fn set(&mut self, key: &str, value: &str) -> Result<()> {
        check_names(key, true)?;
        settable(key, CONNECTION)?;
        let before = self.attachment.options().clone();
        let mut now = before.clone();
        if !now.set(key, value)? {
            return self.statement.set(key, value).map(drop);
        }
        if now.snapshot_number > 0 && !self.attachment.is_modern()? {
            return Err(not_implemented("snapshot numbers need Firebird 4 or newer"));
        }
        self.limit_session(&before, &now)?;
        if now.autocommit && !before.autocommit {
            self.attachment.end(true)?;
        }
        *self.attachment.options() = now;
        Ok(())
    }

    fn get(&self, key: &str) -> Result<String> {
        check_names(key, false)?;
        if !find(key).is_some_and(|spec| spec.scope.has(CONNECTION)) {
            return Err(not_found(key));
        }
        let attachment = &self.attachment;
        if key == "adbc.firebird.snapshot_number"
            && let Some(number) = attachment.ask_transaction(firearrow::Transaction::snapshot_number)?
        {
            return Ok(number.to_string());
        }
        let own = attachment.options().get(key);
        if let Some(value) = own.or_else(|| self.statement.get(key)) {
            return value;
        }
        Ok(match key {
            "adbc.firebird.server_version" => self.info()?.engine_version.clone(),
            "adbc.firebird.ods_version" => self.info()?.ods.clone(),
            "adbc.firebird.attachment_id" => self.info()?.attachment.to_string(),
            "adbc.firebird.protocol_version" => self.info()?.protocol.unwrap_or(0).to_string(),
            "adbc.firebird.wire_crypt_plugin" => self.info()?.cipher.clone().unwrap_or_default(),
            "adbc.firebird.warnings" => {
                let warnings = attachment.connection()?.warnings();
                warnings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
            }
            "adbc.firebird.transaction_id" => {
                let number = attachment.ask_transaction(firearrow::Transaction::number)?;
                number.ok_or_else(|| invalid_state("no transaction is running"))?.to_string()
            }
            _ => return Err(not_found(key)),
        })
    }

    fn broken(&self) {
        self.attachment.break_down();
    }
}

optionable!(Connection, OptionConnection);

impl adbc_core::Connection for Connection {
    type StatementType = Statement;

    fn new_statement(&mut self) -> Result<Statement> {
        self.attachment.connection()?;
        Ok(Statement::new(&self.attachment, self.statement.clone()))
    }

    fn get_cancel_handle(&self) -> Box<dyn adbc_core::CancelHandle> {
        Box::new(Canceller(Arc::clone(&self.attachment.activity)))
    }

    fn get_info(&self, codes: Option<HashSet<InfoCode>>) -> Result<Reader> {
        self.metadata(|connection| {
            let version = || Ok(self.info()?.engine_version.clone());
            metadata::info(connection.dialect(), version, codes)
        })
    }

    fn get_objects(
        &self,
        depth: ObjectDepth,
        catalog: Option<&str>,
        db_schema: Option<&str>,
        table_name: Option<&str>,
        table_type: Option<Vec<&str>>,
        column_name: Option<&str>,
    ) -> Result<Reader> {
        let filter = ObjectFilter {
            catalog,
            schema: db_schema,
            table: table_name,
            table_types: table_type,
            column: column_name,
        };
        self.metadata(|connection| metadata::objects(connection, depth, filter))
    }

    fn get_table_schema(
        &self,
        catalog: Option<&str>,
        db_schema: Option<&str>,
        table_name: &str,
    ) -> Result<Schema> {
        let task = self.attachment.begin_task();
        let read = &self.statement.read;
        let schema = || {
            let connection = self.attachment.connection()?;
            metadata::table_schema(connection, catalog, db_schema, table_name, read)
        };
        self.contain(|| task.run(schema))
    }

    fn get_table_types(&self) -> Result<Reader> {
        self.metadata(|_| metadata::table_types())
    }

    fn get_statistic_names(&self) -> Result<Reader> {
        self.metadata(|_| metadata::statistic_names())
    }

    fn get_statistics(
        &self,
        catalog: Option<&str>,
        db_schema: Option<&str>,
        table_name: Option<&str>,
        approximate: bool,
    ) -> Result<Reader> {
        self.metadata(|connection| {
            metadata::statistics(connection, catalog, db_schema, table_name, approximate)
        })
    }

    fn commit(&mut self) -> Result<()> {
        self.finish(true)
    }

    fn rollback(&mut self) -> Result<()> {
        self.finish(false)
    }

    fn read_partition(&self, partition: impl AsRef<[u8]>) -> Result<Reader> {
        let stream =
            self.contain(|| crate::partition::read(&self.attachment, partition.as_ref(), &self.statement))?;
        Ok(give(stream, None))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.attachment.release();
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::Driver;
    use adbc_core::options::OptionDatabase;
    use adbc_core::{Connection as _, Database as _, Driver as _, Statement as _};
    use firearrow_testkit::{Target, matrix};

    fn open(target: &Target, url: &str) -> Connection {
        let mut options = vec![
            (OptionDatabase::Uri, OptionValue::from(url)),
            (OptionDatabase::Other("adbc.firebird.create_if_missing".into()), "true".into()),
        ];
        if let Target::Embedded(embedded) = target {
            let engine = embedded.engine.display().to_string();
            options
                .push((OptionDatabase::Other("adbc.firebird.client_library".into()), engine.as_str().into()));
        }
        let database = Driver.new_database_with_opts(options).expect("valid options");
        database.new_connection().expect("it opens")
    }

    fn count(connection: &mut Connection) -> Result<usize> {
        let mut statement = connection.new_statement()?;
        statement.set_sql_query("SELECT n FROM t")?;
        let mut rows = 0;
        for batch in statement.execute()? {
            rows += batch.map_err(crate::error::of_arrow)?.num_rows();
        }
        Ok(rows)
    }

    matrix!(
        all,
        fn a_panic_ends_its_connection_and_no_other(target: &Target) {
            let url = target.fresh_url();
            let (mut panicking, mut other) = (open(target, &url), open(target, &url));
            for sql in ["CREATE TABLE t (n INTEGER)", "INSERT INTO t VALUES (1)"] {
                let mut statement = other.new_statement().expect("it is cheap");
                statement.set_sql_query(sql).expect("it is text");
                statement.execute_update().unwrap_or_else(|error| panic!("{sql}: {error}"));
            }
            assert_eq!(count(&mut panicking), Ok(1));
            let mut statement = panicking.new_statement().expect("it is cheap");
            statement.set_sql_query("SELECT n FROM t").expect("it is text");
            let mut stream = statement.execute().expect("it runs");
            let failed: Result<()> = panicking.contain(|| panic!("a mistake"));
            let error = failed.expect_err("it panicked");
            assert_eq!(error.status, Status::Internal);
            assert!(error.message.contains("a mistake"), "{error}");
            // Whatever was left half done is not touched any more.
            let error = count(&mut panicking).expect_err("it is broken");
            assert!(error.status == Status::Internal && error.message.contains("panicked"), "{error}");
            assert_eq!(statement.execute().err().map(|error| error.status), Some(Status::Internal));
            assert_eq!(panicking.commit().expect_err("it is broken").status, Status::InvalidState);
            stream.next().expect("an end by an error").expect_err("it is broken");
            drop((stream, statement, panicking));
            assert_eq!(count(&mut other), Ok(1));
        },
        fn a_released_connection_leaves_no_locks(target: &Target) {
            let url = target.fresh_url();
            let (mut connection, mut other) = (open(target, &url), open(target, &url));
            let run = |connection: &mut Connection, sql: &str| {
                let mut statement = connection.new_statement().expect("it is cheap");
                statement.set_sql_query(sql).expect("it is text");
                let affected = statement.execute_update().unwrap_or_else(|error| panic!("{sql}: {error}"));
                (statement, affected)
            };
            run(&mut other, "CREATE TABLE t (n INTEGER)");
            run(&mut other, "INSERT INTO t VALUES (1)");
            connection.set("adbc.connection.autocommit", "false").expect("it is known");
            let (mut update, affected) = run(&mut connection, "UPDATE t SET n = 2");
            assert_eq!(affected, Some(1));
            drop(connection);
            other.set("adbc.firebird.lock_timeout", "0").expect("it is known");
            assert_eq!(run(&mut other, "UPDATE t SET n = 3 WHERE n = 1").1, Some(1));
            // Nobody could commit it.
            assert_eq!(update.execute_update().expect_err("too late").status, Status::InvalidState);
        },
        fn what_could_not_be_undone_is_not_committed(target: &Target) {
            let mut connection = open(target, &target.fresh_url());
            let run = |connection: &mut Connection, sql: &str| {
                let mut statement = connection.new_statement().expect("it is cheap");
                statement.set_sql_query(sql).expect("it is text");
                statement.execute_update().unwrap_or_else(|error| panic!("{sql}: {error}"))
            };
            run(&mut connection, "CREATE TABLE t (n INTEGER)");
            connection.set("adbc.connection.autocommit", "false").expect("it is known");
            for by_commit in [true, false] {
                assert_eq!(run(&mut connection, "INSERT INTO t VALUES (1)"), Some(1));
                connection.attachment.doom();
                let ended = match by_commit {
                    true => connection.commit(),
                    false => connection.set("adbc.connection.autocommit", "true"),
                };
                let error = ended.expect_err("half of an ingestion may be in it");
                assert_eq!(error.status, Status::InvalidState, "{error}");
                assert!(error.message.contains("was rolled back"), "{error}");
            }
            connection.set("adbc.connection.autocommit", "false").expect("it is known");
            assert_eq!(count(&mut connection), Ok(0));
            // The next transaction is none the worse for it.
            run(&mut connection, "INSERT INTO t VALUES (2)");
            connection.commit().expect("nothing failed in it");
            assert_eq!(count(&mut connection), Ok(1));
        }
    );
}
