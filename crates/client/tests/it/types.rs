//! Reading values of every type.

use crate::cases::all_types;
use crate::support::{fresh, run};
use arrow::array::*;
use arrow::datatypes::{Float32Type, Float64Type};
use firearrow::Params;
use firearrow_testkit::{Target, matrix};
use std::sync::Arc;

matrix!(
    all,
    fn every_scalar_type_survives_the_round_trip(target: &Target) {
        all_types(target);
    },
    fn floating_point_arrives_bit_by_bit(target: &Target) {
        // As parameters: the engine's own reading of literals is not exact at the ends of the range.
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (id INTEGER, d DOUBLE PRECISION, f FLOAT)");
        let doubles = [f64::MAX, f64::MIN, f64::MIN_POSITIVE, 5e-324, 0.1, -0.0, 1.0 / 3.0];
        let floats = [f32::MAX, f32::MIN, f32::MIN_POSITIVE, 1e-45, 0.1, -0.0, 1.0 / 3.0];
        let columns: [ArrayRef; 3] = [
            Arc::new(Int32Array::from_iter_values(0..7)),
            Arc::new(Float64Array::from_iter_values(doubles)),
            Arc::new(Float32Array::from_iter_values(floats)),
        ];
        connection
            .execute_with("INSERT INTO t VALUES (?, ?, ?)", Params::row(columns))
            .expect("they are taken");
        let batch = crate::support::query(&connection, "SELECT d, f FROM t ORDER BY id");
        let found =
            batch.column(0).as_primitive::<Float64Type>().values().iter().map(|value| value.to_bits());
        assert!(found.eq(doubles.iter().map(|value| value.to_bits())));
        let found =
            batch.column(1).as_primitive::<Float32Type>().values().iter().map(|value| value.to_bits());
        assert!(found.eq(floats.iter().map(|value| value.to_bits())));
    },
    fn empty_results_have_their_schema(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (a INTEGER, b VARCHAR(10), c BLOB)");
        let batch = crate::support::query(&connection, "SELECT * FROM t");
        assert_eq!(batch.num_rows(), 0);
        let names: Vec<_> = batch.schema().fields().iter().map(|field| field.name().clone()).collect();
        assert_eq!(names, ["A", "B", "C"]);
    },
    fn expressions_and_literals_have_values(target: &Target) {
        let connection = fresh(target);
        let batch = crate::support::query(
            &connection,
            "SELECT 1, 1.5, 'text', NULL, CURRENT_DATE > DATE '2000-01-01', CAST(NULL AS BLOB) FROM RDB$DATABASE",
        );
        assert_eq!(batch.column(0).as_primitive::<arrow::datatypes::Int32Type>().value(0), 1);
        assert_eq!(batch.column(1).as_primitive::<arrow::datatypes::Decimal128Type>().value(0), 15);
        assert_eq!(batch.column(2).as_string::<i32>().value(0), "text");
        assert!(batch.column(3).is_null(0));
        assert!(batch.column(4).as_boolean().value(0));
        assert!(batch.column(5).is_null(0));
    },
    fn invalid_text_names_its_column_and_row(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (id INTEGER, bytes VARCHAR(10) CHARACTER SET NONE)");
        run(&connection, "INSERT INTO t VALUES (1, 'fine')");
        run(&connection, "INSERT INTO t VALUES (2, x'FFFE41')");
        let mut cursor = connection.query("SELECT id, bytes FROM t ORDER BY id").expect("the query is right");
        let error = cursor.next_batch().expect_err("the second row is no UTF-8");
        assert_eq!(error.kind(), firearrow::Kind::Data);
        let text = error.to_string();
        assert!(text.contains("BYTES") && text.contains("none_encoding"), "{text}");
        assert!(text.contains("row 2") || text.contains("row 1"), "{text}");
    },
    fn none_encoding_reads_single_byte_text(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (bytes VARCHAR(10) CHARACTER SET NONE)");
        run(&connection, "INSERT INTO t VALUES (x'47729F')");
        let mut options = connection.read_options().clone();
        options.set("none_encoding", "windows-1252").expect("a known encoding");
        let transaction = connection.begin(Default::default()).expect("a transaction starts");
        let statement =
            transaction.prepare("SELECT bytes FROM t").expect("valid SQL").with_read_options(options);
        let batch = crate::support::rows(statement.query(&transaction, ()).expect("it runs"));
        assert_eq!(batch.column(0).as_string::<i32>().value(0), "GrŸ");
    }
);
