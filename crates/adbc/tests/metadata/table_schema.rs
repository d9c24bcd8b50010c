//! Columns of a table as fields.

use crate::support::{run, shop};
use adbc_core::error::Status;
use arrow::datatypes::DataType;
use firearrow::ReadOptions;
use firearrow::arrow::DecimalPrecision;
use firearrow_adbc::metadata::table_schema;
use firearrow_testkit::{Target, matrix};

matrix!(
    all,
    fn a_table_has_the_schema_of_its_rows(target: &Target) {
        let connection = shop(target);
        let read = ReadOptions::default();
        let schema = |table| table_schema(&connection, None, None, table, &read).expect("a schema");
        let customer = schema("CUSTOMER");
        let selected =
            connection.prepare("SELECT * FROM customer").and_then(|it| it.schema()).expect("a schema");
        assert_eq!(customer.fields().len(), selected.fields().len());
        for (field, selected) in customer.fields().iter().zip(selected.fields()) {
            assert_eq!((field.name(), field.data_type()), (selected.name(), selected.data_type()));
            assert_eq!(field.metadata(), selected.metadata());
        }
        let nullable: Vec<bool> = customer.fields().iter().map(|field| field.is_nullable()).collect();
        assert_eq!(nullable, [false, false, true, true]);
        let orders = schema("ORDERS");
        let names: Vec<&str> = orders.fields().iter().map(|field| field.name().as_str()).collect();
        assert_eq!((names.len(), names[0], names[14]), (15, "ID", "SIZES"));
        assert_eq!(orders.field(1).data_type(), &DataType::Decimal128(12, 2), "as it was declared");
        let DataType::List(item) = orders.field(14).data_type() else { panic!("{orders:?}") };
        assert_eq!(item.data_type(), &DataType::Int32);
        assert_eq!(schema("PAID").fields().len(), 2, "a view");
        assert_eq!(schema("a_b").field(0).name(), "x_y", "no pattern");
        assert_eq!(schema("RDB$RELATIONS").field(0).name(), "RDB$VIEW_BLR");
        let stored = read.clone().decimal_precision(DecimalPrecision::Storage);
        let orders = table_schema(&connection, Some(""), Some(""), "ORDERS", &stored).expect("a schema");
        assert_eq!(orders.field(1).data_type(), &DataType::Decimal128(18, 2));
    },
    fn what_is_missing_is_not_found(target: &Target) {
        let connection = shop(target);
        let read = ReadOptions::default();
        let schema = |table| table_schema(&connection, None, None, table, &read);
        for name in [
            "customer",
            "CUSTOMER ",
            "NO_SUCH",
            "(SELECT 1)",
            "a%b",
            "",
            "\"ORDERS\"",
            "ORDERS; DROP TABLE ORDERS",
        ] {
            let error = schema(name).expect_err(name);
            assert_eq!(error.status, Status::NotFound, "{name}");
            assert_eq!(error.sqlstate.map(|byte| byte as u8), *b"42S02", "{name}");
            assert!(error.message.contains(&name.replace('"', "\"\"")), "{error}");
        }
        for (catalog, schema) in [(Some("c"), None), (None, Some("s"))] {
            let error =
                table_schema(&connection, catalog, schema, "ORDERS", &read).expect_err("there is none");
            assert_eq!(error.status, Status::NotFound);
        }
        assert!(schema("ORDERS").is_ok());
        // Asking keeps nothing that stands in the way.
        run(&connection, "DROP VIEW paid");
        run(&connection, "DROP TABLE orders");
        assert_eq!(schema("ORDERS").expect_err("it is gone").status, Status::NotFound);
    }
);
