//! The client's two APIs as one, so that what happens with them is written once.

use crate::catalog::{About, Answer, Question};
use arrow::array::RecordBatch;
use firearrow::catalog::{Column, Name};
use firearrow::{
    Dialect, Error, Executed, OnFailure, Params, Position, Result, RowsExecuted, StatementInfo,
    StatementKind, TransactionOptions, WireStats,
};
use std::collections::VecDeque;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// A connection's methods, and those of what it makes.
pub(crate) trait Api: Sized + Send + Sync + 'static {
    type Connection: Send + Sync;
    type Transaction: Send + Sync;
    type Statement: Clone + Send + Sync;
    type Cursor: Send;
    type ScrollCursor: Send;

    fn begin(
        connection: &Self::Connection,
        options: TransactionOptions,
    ) -> impl Future<Output = Result<Self::Transaction>> + Send;
    fn prepare(
        running: &Self::Transaction,
        sql: &str,
    ) -> impl Future<Output = Result<Self::Statement>> + Send;
    fn recall(running: &Self::Transaction, sql: &str)
    -> impl Future<Output = Result<Self::Statement>> + Send;
    fn commit(running: Self::Transaction) -> impl Future<Output = Result<()>> + Send;

    fn execute(
        statement: &Self::Statement,
        running: &mut Self::Transaction,
        params: Params,
    ) -> impl Future<Output = Result<Executed>> + Send;
    fn execute_last(
        statement: &Self::Statement,
        running: Self::Transaction,
        params: Params,
    ) -> impl Future<Output = Result<Executed>> + Send;
    fn query(
        statement: &Self::Statement,
        running: &Self::Transaction,
        params: Params,
    ) -> impl Future<Output = Result<Self::Cursor>> + Send;
    fn query_scrollable(
        statement: &Self::Statement,
        running: &Self::Transaction,
        params: Params,
    ) -> impl Future<Output = Result<Self::ScrollCursor>> + Send;
    fn execute_rows(
        statement: &Self::Statement,
        running: &mut Self::Transaction,
        rows: &RecordBatch,
        on_failure: OnFailure,
    ) -> impl Future<Output = Result<RowsExecuted>> + Send;
    /// Executes a statement for each row, and puts the rows that it returns into `to`.
    fn query_rows(
        statement: &Self::Statement,
        running: &Self::Transaction,
        rows: &RecordBatch,
        on_failure: OnFailure,
        to: &mut VecDeque<RecordBatch>,
    ) -> impl Future<Output = Result<RowsExecuted>> + Send;

    fn kind(statement: &Self::Statement) -> StatementKind;
    fn has_rows(statement: &Self::Statement) -> bool;
    fn has_cursor(statement: &Self::Statement) -> bool;
    fn info(statement: &Self::Statement) -> Arc<StatementInfo>;
    fn statement_stats(statement: &Self::Statement) -> WireStats;
    fn is_outdated_by(statement: &Self::Statement, error: &Error) -> bool;
    fn with(statement: Self::Statement, how: &crate::flow::How) -> Self::Statement;

    fn own(cursor: Self::Cursor, running: Self::Transaction) -> impl Future<Output = Self::Cursor> + Send;
    fn next_batch(cursor: &mut Self::Cursor) -> impl Future<Output = Result<Option<RecordBatch>>> + Send;
    fn close_and_commit(cursor: Self::Cursor) -> impl Future<Output = Result<()>> + Send;
    fn scroll(
        cursor: &mut Self::ScrollCursor,
        to: Position,
        rows: usize,
    ) -> impl Future<Output = Result<Option<RecordBatch>>> + Send;
    fn close_scroll(cursor: Self::ScrollCursor) -> impl Future<Output = Result<()>> + Send;
    fn affected_rows(cursor: &Self::Cursor) -> Option<u64>;
    fn cursor_stats(cursor: &Self::Cursor) -> WireStats;

    fn dialect(connection: &Self::Connection) -> Dialect;
    /// Executes a statement in a transaction of its own.
    fn execute_alone(connection: &Self::Connection, sql: &str) -> impl Future<Output = Result<()>> + Send;
    /// The names of all tables and views, also the engine's own.
    fn tables(connection: &Self::Connection) -> impl Future<Output = Result<Vec<String>>> + Send;
    /// The columns of the table or view with this name, also of one of the engine's own; none if there is no such table.
    fn columns(
        connection: &Self::Connection,
        table: &str,
    ) -> impl Future<Output = Result<Vec<Column>>> + Send;
    fn look_up(
        connection: &Self::Connection,
        question: &Question,
    ) -> impl Future<Output = Result<Answer>> + Send;
}

macro_rules! api {
    ($name:ident, $($module:ident)::+, $($wait:tt)*) => {
        impl Api for $name {
            type Connection = $($module)::+::Connection;
            type Transaction = $($module)::+::Transaction;
            type Statement = $($module)::+::Statement;
            type Cursor = $($module)::+::Cursor;
            type ScrollCursor = $($module)::+::ScrollCursor;

            async fn begin(
                connection: &Self::Connection,
                options: TransactionOptions,
            ) -> Result<Self::Transaction> {
                connection.begin_lazy(options)$($wait)*
            }

            async fn prepare(running: &Self::Transaction, sql: &str) -> Result<Self::Statement> {
                running.prepare(sql)$($wait)*
            }

            async fn recall(running: &Self::Transaction, sql: &str) -> Result<Self::Statement> {
                running.recall(sql)$($wait)*
            }

            async fn commit(running: Self::Transaction) -> Result<()> {
                running.commit()$($wait)*
            }

            async fn execute(
                statement: &Self::Statement,
                running: &mut Self::Transaction,
                params: Params,
            ) -> Result<Executed> {
                statement.execute(running, params)$($wait)*
            }

            async fn execute_last(
                statement: &Self::Statement,
                running: Self::Transaction,
                params: Params,
            ) -> Result<Executed> {
                statement.execute_last(running, params)$($wait)*
            }

            async fn query(
                statement: &Self::Statement,
                running: &Self::Transaction,
                params: Params,
            ) -> Result<Self::Cursor> {
                statement.query(running, params)$($wait)*
            }

            async fn query_scrollable(
                statement: &Self::Statement,
                running: &Self::Transaction,
                params: Params,
            ) -> Result<Self::ScrollCursor> {
                statement.query_scrollable(running, params)$($wait)*
            }

            async fn execute_rows(
                statement: &Self::Statement,
                running: &mut Self::Transaction,
                rows: &RecordBatch,
                on_failure: OnFailure,
            ) -> Result<RowsExecuted> {
                statement.execute_rows(running, rows, on_failure)$($wait)*
            }

            async fn query_rows(
                statement: &Self::Statement,
                running: &Self::Transaction,
                rows: &RecordBatch,
                on_failure: OnFailure,
                to: &mut VecDeque<RecordBatch>,
            ) -> Result<RowsExecuted> {
                let mut cursor = statement.query_rows(running, rows, on_failure)$($wait)*?;
                loop {
                    match cursor.next_batch()$($wait)* {
                        Ok(Some(batch)) => to.push_back(batch),
                        Ok(None) => break,
                        // The row that failed is in the report.
                        Err(_) if !cursor.executed().failures.is_empty() => break,
                        Err(failed) => return Err(failed),
                    }
                }
                Ok(cursor.executed().clone())
            }

            fn kind(statement: &Self::Statement) -> StatementKind {
                statement.kind()
            }

            fn has_rows(statement: &Self::Statement) -> bool {
                statement.has_rows()
            }

            fn has_cursor(statement: &Self::Statement) -> bool {
                statement.has_cursor()
            }

            fn info(statement: &Self::Statement) -> Arc<StatementInfo> {
                statement.info()
            }

            fn statement_stats(statement: &Self::Statement) -> WireStats {
                statement.wire_stats()
            }

            fn is_outdated_by(statement: &Self::Statement, error: &Error) -> bool {
                statement.is_outdated_by(error)
            }

            fn with(statement: Self::Statement, how: &crate::flow::How) -> Self::Statement {
                let statement = statement.with_read_options(how.read.clone()).with_timeout(how.timeout);
                // Cursors execute it again. DDL is never the same again.
                let statement = match statement.kind() {
                    StatementKind::Ddl => statement,
                    _ => statement.keep_prepared(),
                };
                match how.parallel {
                    Some(readers) => statement.with_parallel(readers),
                    None => statement,
                }
            }

            async fn own(cursor: Self::Cursor, running: Self::Transaction) -> Self::Cursor {
                cursor.owning(running)$($wait)*
            }

            async fn next_batch(cursor: &mut Self::Cursor) -> Result<Option<RecordBatch>> {
                cursor.next_batch()$($wait)*
            }

            async fn close_and_commit(cursor: Self::Cursor) -> Result<()> {
                cursor.close_and_commit()$($wait)*
            }

            async fn scroll(
                cursor: &mut Self::ScrollCursor,
                to: Position,
                rows: usize,
            ) -> Result<Option<RecordBatch>> {
                cursor.fetch(to, rows)$($wait)*
            }

            async fn close_scroll(cursor: Self::ScrollCursor) -> Result<()> {
                cursor.close()$($wait)*
            }

            fn affected_rows(cursor: &Self::Cursor) -> Option<u64> {
                cursor.affected_rows()
            }

            fn cursor_stats(cursor: &Self::Cursor) -> WireStats {
                cursor.wire_stats()
            }

            fn dialect(connection: &Self::Connection) -> Dialect {
                connection.dialect()
            }

            async fn execute_alone(connection: &Self::Connection, sql: &str) -> Result<()> {
                connection.execute(sql)$($wait)*.map(drop)
            }

            async fn tables(connection: &Self::Connection) -> Result<Vec<String>> {
                let catalog = connection.catalog()$($wait)*?.with_system_tables(true);
                let tables = catalog.tables(Name::Any)$($wait)*?;
                Ok(tables.into_iter().map(|table| table.name).collect())
            }

            async fn columns(connection: &Self::Connection, table: &str) -> Result<Vec<Column>> {
                let catalog = connection.catalog()$($wait)*?.with_system_tables(true);
                catalog.columns(Name::Is(table), Name::Any)$($wait)*
            }

            async fn look_up(connection: &Self::Connection, question: &Question) -> Result<Answer> {
                let catalog = connection.catalog()$($wait)*?.with_system_tables(question.with_system);
                let name = question.name();
                Ok(match question.about {
                    About::Tables => Answer::Tables(catalog.tables(name)$($wait)*?),
                    About::Columns => Answer::Columns(catalog.columns(name, Name::Any)$($wait)*?),
                    About::Constraints => Answer::Constraints(catalog.constraints(name)$($wait)*?),
                    About::Indexes => Answer::Indexes(catalog.indexes(name)$($wait)*?),
                    About::Generators => Answer::Generators(catalog.generators(name)$($wait)*?),
                    About::GeneratorValue => {
                        Answer::GeneratorValue(catalog.generator_value(question.one_name())$($wait)*?)
                    }
                    About::LimboTransactions => {
                        Answer::LimboTransactions(catalog.limbo_transactions()$($wait)*?)
                    }
                })
            }
        }
    };
}

/// Calls wait in the thread that makes them.
pub(crate) enum Blocking {}

/// Calls are futures.
pub(crate) enum Asynchronous {}

api!(Blocking, firearrow,);
api!(Asynchronous, firearrow::asynchronous, .await);

/// The result of what is asynchronous in form only, because its calls block.
pub(crate) fn ready<T>(flow: impl Future<Output = T>) -> T {
    match pin!(flow).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("a blocking call pended"),
    }
}
