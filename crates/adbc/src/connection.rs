//! Connections: transactions, metadata, and the defaults of statements.

use crate::canceller::Canceller;
use crate::error::{Result, invalid_state, new, not_implemented, of};
use crate::handover::give;
use crate::metadata::{self, ObjectFilter};
use crate::option::{CONNECTION, Defaults, Execution, Keyed, Options, find, not_found, optionable, settable};
use crate::statement::Statement;
use adbc_core::error::Status;
use adbc_core::options::{InfoCode, ObjectDepth, OptionConnection, OptionValue};
use arrow::array::{RecordBatch, RecordBatchReader};
use arrow::datatypes::Schema;
use firearrow::{Config, ServerInfo, Transaction, Warning};
use firearrow_driver::{Session, Stream, read_partition};
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

/// A connection.
pub struct Connection {
    session: Arc<Session>,
    /// The defaults of statements.
    statement: Execution,
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
        let session = Session::open(config, defaults.connection).map_err(of)?;
        Ok(Self { session: Arc::new(session), statement: defaults.statement })
    }

    fn contain<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        self.session.contain(work).map_err(of).flatten()
    }

    fn info(&self) -> Result<Arc<ServerInfo>> {
        self.session.info().map_err(of)
    }

    /// Returns metadata as a stream, which can be cancelled like any other.
    fn metadata(&self, read: impl FnOnce(&firearrow::Connection) -> Result<RecordBatch>) -> Result<Reader> {
        let task = self.session.begin_task();
        let read = || task.run(|| Ok(read(self.session.connection()?))).map_err(of).flatten();
        let batch = self.contain(read)?;
        let stream = Stream::of_batches(batch.schema(), [batch]).within(&self.session, &task);
        Ok(give(stream, None))
    }

    fn finish(&self, commit: bool) -> Result<()> {
        if self.session.is_autocommit() {
            return Err(invalid_state(
                "the connection is in autocommit mode: there is no transaction to end",
            ));
        }
        self.contain(|| self.session.end(commit).map_err(of))
    }
}

/// Accepts only empty names: Firebird has neither catalogs nor schemas.
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
        let mut options = self.session.options();
        match options.set(key, value)? {
            true => self.session.configure(options).map_err(of),
            false => self.statement.set(key, value).map(drop),
        }
    }

    fn get(&self, key: &str) -> Result<String> {
        check_names(key, false)?;
        if !find(key).is_some_and(|spec| spec.scope.has(CONNECTION)) {
            return Err(not_found(key));
        }
        let session = &self.session;
        if key == "adbc.firebird.snapshot_number"
            && let Some(number) = session.ask_transaction(Transaction::snapshot_number).map_err(of)?
        {
            return Ok(number.to_string());
        }
        let own = session.options().get(key);
        if let Some(value) = own.or_else(|| self.statement.get(key)) {
            return value;
        }
        Ok(match key {
            "adbc.firebird.server_version" => self.info()?.engine_version.clone(),
            "adbc.firebird.ods_version" => self.info()?.ods.clone(),
            "adbc.firebird.attachment_id" => self.info()?.attachment.to_string(),
            "adbc.firebird.protocol_version" => self.info()?.protocol.unwrap_or(0).to_string(),
            "adbc.firebird.wire_crypt_plugin" => self.info()?.cipher.clone().unwrap_or_default(),
            "adbc.firebird.warnings" => lines(session.connection().map_err(of)?.warnings()),
            "adbc.firebird.statement_warnings" => {
                // Callers with a short buffer ask twice, so nothing is taken away.
                lines(&session.statement_warnings().map_err(of)?)
            }
            "adbc.firebird.transaction_id" => {
                let number = session.ask_transaction(Transaction::number).map_err(of)?;
                number.ok_or_else(|| invalid_state("no transaction is running"))?.to_string()
            }
            _ => return Err(not_found(key)),
        })
    }

    fn broken(&self) {
        self.session.break_down();
    }
}

optionable!(Connection, OptionConnection);

impl adbc_core::Connection for Connection {
    type StatementType = Statement;

    fn new_statement(&mut self) -> Result<Statement> {
        self.session.connection().map_err(of)?;
        Ok(Statement::new(&self.session, self.statement.clone()))
    }

    fn get_cancel_handle(&self) -> Box<dyn adbc_core::CancelHandle> {
        Box::new(Canceller(Arc::clone(self.session.activity())))
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
        let task = self.session.begin_task();
        let read = &self.statement.options.read;
        let schema = || {
            let connection = self.session.connection()?;
            Ok(metadata::table_schema(connection, catalog, db_schema, table_name, read))
        };
        self.contain(|| task.run(schema).map_err(of).flatten())
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
        let stream = read_partition(&self.session, partition.as_ref(), &self.statement.options);
        Ok(give(stream.map_err(of)?, None))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.session.release();
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").finish_non_exhaustive()
    }
}

/// One line for each.
fn lines(warnings: &[Warning]) -> String {
    let line = |warning: &Warning| warning.to_string().replace(char::is_control, " ");
    warnings.iter().map(line).collect::<Vec<_>>().join("\n")
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
            rows += batch.map_err(crate::error::of)?.num_rows();
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
            // The handle refuses further work after the panic.
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
            // No later call could commit it.
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
                connection.session.doom();
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
            // The next transaction is not affected.
            run(&mut connection, "INSERT INTO t VALUES (2)");
            connection.commit().expect("nothing failed in it");
            assert_eq!(count(&mut connection), Ok(1));
        }
    );
}
