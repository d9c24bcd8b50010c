//! Panics are contained. What panics here is a producer of rows, by the traits: a C function must not panic at all.

use crate::support::{fails, options};
use adbc_core::error::{Error, Status};
use adbc_core::{Connection as _, Database as _, Driver as _, Statement as _};
use arrow::array::{RecordBatch, RecordBatchReader};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::error::ArrowError;
use firearrow_adbc::{Connection, Driver};
use firearrow_testkit::{Target, matrix};
use std::sync::Arc;

struct Panicking;

impl Iterator for Panicking {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        panic!("not today\0");
    }
}

impl RecordBatchReader for Panicking {
    fn schema(&self) -> SchemaRef {
        Arc::new(Schema::new(vec![Field::new("n", DataType::Int32, true)]))
    }
}

fn run(connection: &mut Connection, sql: &str) -> Result<Option<i64>, Error> {
    let mut statement = connection.new_statement()?;
    statement.set_sql_query(sql)?;
    statement.execute_update()
}

// The panic happens, and is contained, in the driver.
matrix!(
    [firebird_4_0, embedded_5_0],
    fn a_producer_that_panics_is_an_error(target: &Target) {
        let database =
            Driver.new_database_with_opts(options(target, &target.fresh_url())).expect("valid options");
        let mut connection = database.new_connection().expect("it is created");
        run(&mut connection, "CREATE TABLE t (n INTEGER)").expect("it is created");
        let mut insert = connection.new_statement().expect("it is cheap");
        insert.set_sql_query("INSERT INTO t VALUES (?)").expect("it is text");
        insert.bind_stream(Box::new(Panicking)).expect("it is taken");
        let error = fails(insert.execute_update(), Status::InvalidArguments);
        assert!(error.message.contains("not today") && !error.message.contains('\0'), "{error}");
        // It was not the driver's fault, and the connection goes on.
        assert_eq!(run(&mut connection, "INSERT INTO t VALUES (1)").expect("it inserts"), Some(1));
        let mut select = connection.new_statement().expect("it is cheap");
        select.set_sql_query("SELECT n FROM t").expect("it is text");
        let rows: usize =
            select.execute().expect("it runs").map(|batch| batch.expect("read").num_rows()).sum();
        assert_eq!(rows, 1);
    }
);
