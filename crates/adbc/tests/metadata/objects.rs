//! Depths, filters, constraints.

use crate::support::*;
use adbc_core::options::ObjectDepth;
use adbc_core::schemas::{GET_OBJECTS_SCHEMA, GET_TABLE_TYPES_SCHEMA};
use arrow::array::{Array, AsArray, StructArray};
use firearrow_adbc::metadata::{ObjectFilter, objects, table_types};
use firearrow_testkit::{Target, matrix};
use std::collections::HashSet;

matrix!(
    all,
    fn each_depth_has_its_lists(target: &Target) {
        let connection = shop(target);
        let batch = objects(&connection, ObjectDepth::Catalogs, user()).expect("objects");
        assert_eq!((batch.schema(), batch.num_rows()), (GET_OBJECTS_SCHEMA.clone(), 1));
        assert!(batch.column(0).is_null(0) && batch.column(1).is_null(0));
        let batch = objects(&connection, ObjectDepth::Schemas, user()).expect("objects");
        let schemas = schemas(&batch);
        assert_eq!(
            (schemas.len(), schemas.column(0).null_count(), schemas.column(1).null_count()),
            (1, 1, 1)
        );
        let shallow = tables(&connection, ObjectDepth::Tables, user());
        let expected = ["BASKET", "CUSTOMER", "ORDERS", "PAID", "a%b ü", "aXb", "a_b"];
        assert_eq!(names(&field(&shallow, "table_name")), expected);
        let kinds = ["GLOBAL TEMPORARY", "TABLE", "TABLE", "VIEW", "TABLE", "TABLE", "TABLE"];
        assert_eq!(names(&field(&shallow, "table_type")), kinds);
        for list in ["table_columns", "table_constraints"] {
            assert_eq!(field(&shallow, list).null_count(), expected.len());
        }
        for depth in [ObjectDepth::All, ObjectDepth::Columns] {
            let deep = tables(&connection, depth, user());
            assert_eq!(names(&field(&deep, "table_name")), expected);
            let (columns, constraints) = (field(&deep, "table_columns"), field(&deep, "table_constraints"));
            assert_eq!((columns.null_count(), constraints.null_count()), (0, 0));
            assert_eq!(lengths(&columns), [1, 4, 15, 2, 1, 1, 2]);
            assert_eq!(lengths(&constraints), [0, 2, 3, 0, 0, 0, 0]);
        }
        let all = tables(&connection, ObjectDepth::Tables, ObjectFilter::default());
        let all_names = names(&field(&all, "table_name"));
        assert!(all.len() > expected.len() + 40 && all_names.is_sorted());
        assert!(all_names.contains(&"RDB$RELATIONS".into()));
        let kinds: HashSet<String> = names(&field(&all, "table_type")).into_iter().collect();
        let listed = table_types().expect("kinds of tables");
        assert_eq!(listed.schema(), *GET_TABLE_TYPES_SCHEMA);
        assert!(kinds.is_subset(&names(listed.column(0)).into_iter().collect()) && kinds.len() == 4);
    },
    fn a_new_database_has_no_tables_of_its_own(target: &Target) {
        let connection = fresh(target);
        for depth in [ObjectDepth::All, ObjectDepth::Tables] {
            assert_eq!(tables(&connection, depth, user()).len(), 0);
        }
    },
    fn filters_let_pass_what_matches(target: &Target) {
        let connection = shop(target);
        for (catalog, rows) in [("%", 1), ("", 1), ("%%", 1), ("c", 0), ("_%", 0)] {
            for depth in [ObjectDepth::All, ObjectDepth::Catalogs] {
                let filter = ObjectFilter { catalog: Some(catalog), ..user() };
                let batch = objects(&connection, depth, filter).expect("objects");
                assert_eq!(
                    (batch.schema(), batch.num_rows()),
                    (GET_OBJECTS_SCHEMA.clone(), rows),
                    "{catalog}"
                );
            }
        }
        for depth in [ObjectDepth::All, ObjectDepth::Tables, ObjectDepth::Schemas] {
            let filter = ObjectFilter { schema: Some("S"), ..user() };
            let batch = objects(&connection, depth, filter).expect("objects");
            assert_eq!(schemas(&batch).len(), 0);
        }
        for any in ["", "%"] {
            let nameless = ObjectFilter { catalog: Some(any), schema: Some(any), ..user() };
            assert_eq!(table_names(&connection, nameless).len(), 7);
        }
        let like = |pattern| table_names(&connection, ObjectFilter { table: Some(pattern), ..user() });
        assert_eq!(like("a_b"), ["aXb", "a_b"]);
        assert_eq!(like("a%b%"), ["a%b ü", "aXb", "a_b"]);
        assert_eq!(like("%ü"), ["a%b ü"]);
        assert_eq!(like("customer"), [""; 0], "letter case counts");
        assert_eq!(like("CUSTOMER"), ["CUSTOMER"]);
        let views = ObjectFilter { table_types: Some(vec!["VIEW"]), ..Default::default() };
        assert_eq!(table_names(&connection, views), ["PAID"]);
        let nothing = ObjectFilter { table_types: Some(vec!["view"]), ..Default::default() };
        for depth in [ObjectDepth::Tables, ObjectDepth::All] {
            assert_eq!(tables(&connection, depth, nothing.clone()).len(), 0);
        }
        let some = tables(&connection, ObjectDepth::All, ObjectFilter { column: Some("x_y"), ..user() });
        assert_eq!(some.len(), 7, "tables without such columns stay");
        let columns = field(&some, "table_columns");
        assert_eq!(lengths(&columns), [0, 0, 0, 0, 0, 0, 2]);
        assert_eq!(names(&field(&members(&columns, 6), "column_name")), ["x_y", "xzy"]);
        assert_eq!(lengths(&field(&some, "table_constraints"))[2], 3);
    },
    fn constraints_name_columns_and_what_they_use(target: &Target) {
        let connection = shop(target);
        let kinds = |constraints: &StructArray| names(&field(constraints, "constraint_type"));
        let columns = |constraints: &StructArray, row| {
            names(&field(constraints, "constraint_column_names").as_list::<i32>().value(row))
        };
        let (_, constraints) = table(&connection, "CUSTOMER");
        assert_eq!(kinds(&constraints), ["PRIMARY KEY", "UNIQUE"], "no NOT NULL among them");
        assert_eq!(columns(&constraints, 0), ["NUM", "COUNTRY"]);
        assert_eq!(columns(&constraints, 1), ["NAME"]);
        assert_eq!(field(&constraints, "constraint_column_usage").null_count(), 2);
        let (_, constraints) = table(&connection, "ORDERS");
        assert_eq!(kinds(&constraints), ["CHECK", "FOREIGN KEY", "PRIMARY KEY"]);
        let all = names(&field(&constraints, "constraint_name"));
        assert_eq!(all[..2], ["CK_PRICE", "FK_CUSTOMER"]);
        assert!(all[2].starts_with("INTEG_"));
        let found: Vec<Vec<String>> = (0..3).map(|row| columns(&constraints, row)).collect();
        assert_eq!(found, [vec!["PRICE"], vec!["NUM", "COUNTRY"], vec!["ID"]]);
        let usage = field(&constraints, "constraint_column_usage");
        assert!(usage.is_null(0) && usage.is_null(2));
        let usage = members(&usage, 1);
        assert_eq!(names(&field(&usage, "fk_table")), ["CUSTOMER", "CUSTOMER"]);
        assert_eq!(names(&field(&usage, "fk_column_name")), ["NUM", "COUNTRY"]);
        assert_eq!((usage.column(0).null_count(), usage.column(1).null_count()), (2, 2));
    }
);
