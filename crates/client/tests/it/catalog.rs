//! What a database consists of, read back after it was created.

use crate::support::{fresh, run};
use firearrow::catalog::{
    BaseType, Column, ColumnType, ConstraintKind, Identity, Index, Name, TableKind, quoted,
};
use firearrow::{Connection, Kind};
use firearrow_testkit::{Generation, Target, matrix};

/// `RDB$RELATION_ID` of `RDB$RELATION_FIELDS` (`relations.h`).
const RELATION_FIELDS: u16 = 5;

fn table_names(connection: &Connection, name: Name<'_>) -> Vec<String> {
    let tables = connection.catalog().and_then(|catalog| catalog.tables(name)).expect("tables");
    tables.into_iter().map(|table| table.name).collect()
}

fn columns(connection: &Connection, table: &str) -> Vec<Column> {
    let catalog = connection.catalog().expect("it begins");
    catalog.columns(Name::Is(table), Name::Any).expect("columns")
}

fn column(connection: &Connection, table: &str, name: &str) -> Column {
    let catalog = connection.catalog().expect("it begins");
    let mut found = catalog.columns(Name::Is(table), Name::Is(name)).expect("columns");
    assert_eq!(found.len(), 1, "{table}.{name}");
    found.remove(0)
}

fn index(connection: &Connection, name: &str) -> Index {
    let indexes = connection.catalog().and_then(|catalog| catalog.indexes(Name::Any)).expect("indexes");
    indexes.into_iter().find(|index| index.name == name).unwrap_or_else(|| panic!("no index {name}"))
}

fn has_new_types(target: &Target) -> bool {
    target.generation() != Generation::V3_0
}

/// A type without sizes.
fn plain(base: BaseType, length: u32) -> ColumnType {
    ColumnType {
        base,
        precision: None,
        scale: 0,
        length,
        characters: None,
        sub_type: None,
        charset: None,
        collation: None,
        dimensions: Vec::new(),
    }
}

fn exact(base: BaseType, length: u32, precision: u8, scale: u8) -> ColumnType {
    ColumnType { precision: Some(precision), scale, ..plain(base, length) }
}

fn text(base: BaseType, length: u32, characters: u32, charset: &str, collation: &str) -> ColumnType {
    ColumnType {
        characters: Some(characters),
        charset: Some(charset.into()),
        collation: Some(collation.into()),
        ..plain(base, length)
    }
}

fn blob(base: BaseType, sub_type: i16) -> ColumnType {
    ColumnType { sub_type: Some(sub_type), ..plain(base, 8) }
}

matrix!(
    all,
    fn every_type_is_told_as_it_was_declared(target: &Target) {
        use BaseType::*;
        let connection = fresh(target);
        let mut cases = vec![
            ("SMALLINT", plain(SmallInt, 2)),
            ("INTEGER", plain(Integer, 4)),
            ("BIGINT", plain(BigInt, 8)),
            ("FLOAT", plain(Float, 4)),
            ("DOUBLE PRECISION", plain(DoublePrecision, 8)),
            ("NUMERIC(4,2)", exact(Numeric, 2, 4, 2)),
            ("DECIMAL(4,0)", exact(Decimal, 4, 4, 0)),
            ("DECIMAL(9,3)", exact(Decimal, 4, 9, 3)),
            ("NUMERIC(10,0)", exact(Numeric, 8, 10, 0)),
            ("NUMERIC(18,18)", exact(Numeric, 8, 18, 18)),
            ("BOOLEAN", plain(Boolean, 1)),
            ("DATE", plain(Date, 4)),
            ("TIME", plain(Time, 4)),
            ("TIMESTAMP", plain(Timestamp, 8)),
            ("CHAR(5) CHARACTER SET WIN1252 COLLATE WIN_PTBR", text(Char, 5, 5, "WIN1252", "WIN_PTBR")),
            ("VARCHAR(20) CHARACTER SET UTF8", text(VarChar, 80, 20, "UTF8", "UTF8")),
            (
                "VARCHAR(20) CHARACTER SET UTF8 COLLATE UNICODE_CI",
                text(VarChar, 80, 20, "UTF8", "UNICODE_CI"),
            ),
            ("VARCHAR(7) CHARACTER SET NONE", text(VarChar, 7, 7, "NONE", "NONE")),
            ("CHAR(4) CHARACTER SET OCTETS", plain(Binary, 4)),
            ("VARCHAR(9) CHARACTER SET OCTETS", plain(VarBinary, 9)),
            ("BLOB", blob(Blob, 0)),
            ("BLOB SUB_TYPE -7", blob(Blob, -7)),
            (
                "BLOB SUB_TYPE TEXT CHARACTER SET WIN1252",
                ColumnType {
                    charset: Some("WIN1252".into()),
                    collation: Some("WIN1252".into()),
                    ..blob(TextBlob, 1)
                },
            ),
            (
                "NUMERIC(9,2)[3, -1:2]",
                ColumnType { dimensions: vec![(1, 3), (-1, 2)], ..exact(Numeric, 4, 9, 2) },
            ),
        ];
        if has_new_types(target) {
            cases.extend([
                ("INT128", plain(Int128, 16)),
                ("NUMERIC(19,2)", exact(Numeric, 16, 19, 2)),
                ("DECIMAL(38,0)", exact(Decimal, 16, 38, 0)),
                ("DECFLOAT(16)", ColumnType { precision: Some(16), ..plain(DecFloat, 8) }),
                ("DECFLOAT", ColumnType { precision: Some(34), ..plain(DecFloat, 16) }),
                ("TIME WITH TIME ZONE", plain(TimeWithTimeZone, 8)),
                ("TIMESTAMP WITH TIME ZONE", plain(TimestampWithTimeZone, 12)),
                ("BINARY(3)", plain(Binary, 3)),
            ]);
        }
        let list: Vec<String> =
            cases.iter().enumerate().map(|(index, (sql, _))| format!("c{index} {sql}")).collect();
        run(&connection, &format!("CREATE TABLE t ({})", list.join(", ")));
        let columns = columns(&connection, "T");
        assert_eq!(columns.len(), cases.len());
        for (index, (column, (sql, expected))) in columns.iter().zip(&cases).enumerate() {
            assert_eq!((&column.name, column.position), (&format!("C{index}"), index as i32 + 1));
            assert_eq!(&column.data_type, expected, "{sql}");
            assert_eq!((column.nullable, &column.domain, &column.default), (true, &None, &None), "{sql}");
        }
        // The catalog and a result agree about the names of types.
        let statement = connection.prepare("SELECT * FROM t").expect("valid SQL");
        for (field, column) in statement.schema().expect("a schema").fields().iter().zip(&columns) {
            assert_eq!(field.metadata()["FIREBIRD:type"], column.data_type.base.name(), "{}", column.name);
        }
    },
    fn columns_tell_how_they_get_their_values(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE DOMAIN money AS NUMERIC(12,2) DEFAULT 17.5 NOT NULL CHECK (VALUE >= 0)");
        run(
            &connection,
            "CREATE TABLE t (id INTEGER GENERATED BY DEFAULT AS IDENTITY, price money, own money DEFAULT -1, \
             name VARCHAR(10) CHARACTER SET UTF8 DEFAULT 'ä''DEFAULT' NOT NULL, since TIMESTAMP DEFAULT CURRENT_TIMESTAMP, \
             twice COMPUTED BY (id * 2), plain INTEGER)",
        );
        run(&connection, "COMMENT ON COLUMN t.name IS 'wie es heißt'");
        let get = |name: &str| column(&connection, "T", name);
        let id = get("ID");
        assert_eq!((id.identity, id.nullable, id.computed), (Some(Identity::ByDefault), false, None));
        let price = get("PRICE");
        assert_eq!((price.domain.as_deref(), price.default.as_deref()), (Some("MONEY"), Some("17.5")));
        assert_eq!((price.nullable, price.data_type.precision, price.data_type.scale), (false, Some(12), 2));
        assert_eq!(get("OWN").default.as_deref(), Some("-1"));
        let name = get("NAME");
        assert_eq!((name.default.as_deref(), name.nullable), (Some("'ä''DEFAULT'"), false));
        assert_eq!(name.remarks.as_deref(), Some("wie es heißt"));
        assert_eq!(get("SINCE").default.as_deref(), Some("CURRENT_TIMESTAMP"));
        let twice = get("TWICE");
        assert_eq!((twice.computed.as_deref(), twice.domain), (Some("(id * 2)"), None));
        let plain = get("PLAIN");
        assert_eq!((plain.nullable, plain.identity, plain.remarks), (true, None, None));
        assert!(columns(&connection, "NO_SUCH_TABLE").is_empty());
        run(&connection, "ALTER TABLE t DROP since");
        let positions: Vec<i32> = columns(&connection, "T").iter().map(|column| column.position).collect();
        assert!(positions.is_sorted() && positions.len() == 6, "{positions:?}");
        if has_new_types(target) {
            run(&connection, "CREATE TABLE u (id BIGINT GENERATED ALWAYS AS IDENTITY)");
            assert_eq!(column(&connection, "U", "ID").identity, Some(Identity::Always));
        }
    },
    fn tables_are_of_their_kinds(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (id INTEGER)");
        run(&connection, "COMMENT ON TABLE t IS 'die erste'");
        run(&connection, "CREATE VIEW v (a, b) AS SELECT id, CAST(id * 2 AS NUMERIC(9,2)) FROM t");
        run(&connection, "CREATE GLOBAL TEMPORARY TABLE g (id INTEGER) ON COMMIT PRESERVE ROWS");
        run(&connection, "CREATE GLOBAL TEMPORARY TABLE h (id INTEGER) ON COMMIT DELETE ROWS");
        let mut expected = vec![
            ("G", TableKind::GlobalTemporary { preserves_rows: true }),
            ("H", TableKind::GlobalTemporary { preserves_rows: false }),
            ("T", TableKind::Table),
            ("V", TableKind::View),
        ];
        let path = target.database_path("outside.dat").display().to_string();
        match connection.execute(&format!("CREATE TABLE e EXTERNAL FILE '{path}' (id INTEGER)")) {
            Ok(_) => expected.insert(0, ("E", TableKind::External)),
            // Servers allow it to nobody unless they are told to.
            Err(error) => assert!(error.message().contains("external file"), "{error}"),
        }
        let catalog = connection.catalog().expect("it begins");
        let tables = catalog.tables(Name::Any).expect("tables");
        let found: Vec<_> = tables.iter().map(|table| (table.name.as_str(), table.kind)).collect();
        assert_eq!(found, expected);
        let remarks: Vec<_> = tables.iter().filter_map(|table| table.remarks.as_deref()).collect();
        assert_eq!(remarks, ["die erste"]);
        let columns = catalog.columns(Name::Is("V"), Name::Any).expect("columns");
        let types: Vec<_> =
            columns.iter().map(|column| (column.data_type.base, column.data_type.scale)).collect();
        assert_eq!(types, [(BaseType::Integer, 0), (BaseType::Numeric, 2)]);
        let catalog = catalog.with_system_tables(true);
        let system = catalog.tables(Name::Any).expect("tables");
        let kind = |name: &str| system.iter().find(|table| table.name == name).map(|table| table.kind);
        for name in ["RDB$RELATIONS", "MON$ATTACHMENTS", "SEC$USERS"] {
            assert_eq!(kind(name), Some(TableKind::System), "{name}");
        }
        assert!(system.len() > tables.len() + 40 && system.is_sorted_by(|a, b| a.name < b.name));
    },
    fn names_and_patterns_mean_what_they_say(target: &Target) {
        let connection = fresh(target);
        let longest = "x".repeat(if has_new_types(target) { 63 } else { 31 });
        // Sorted as the engine does: by code points.
        let names = [
            " lead",
            "Mixed Case",
            "Straße 1",
            "a%b",
            "aXYb",
            "a\\b",
            "a_b",
            "mixed case",
            "q\"uote",
            &longest,
        ];
        for name in names {
            run(&connection, &format!("CREATE TABLE {} ({} INTEGER)", quoted(name), quoted(name)));
        }
        assert_eq!(table_names(&connection, Name::Any), names);
        for name in names {
            assert_eq!(table_names(&connection, Name::Is(name)), [name]);
            let catalog = connection.catalog().expect("it begins");
            let columns = catalog.columns(Name::Is(name), Name::Is(name)).expect("columns");
            assert_eq!(columns.len(), 1, "{name}");
            assert_eq!((columns[0].table.as_str(), columns[0].name.as_str()), (name, name));
        }
        let cases: [(&str, &[&str]); 15] = [
            ("a%b", &["a%b", "aXYb", "a\\b", "a_b"]),
            ("a_b", &["a%b", "a\\b", "a_b"]),
            ("a\\_b", &[]),
            ("a\\b", &["a\\b"]),
            ("mixed%", &["mixed case"]),
            ("%ixed%", &["Mixed Case", "mixed case"]),
            ("%ß%", &["Straße 1"]),
            ("Stra_e 1", &["Straße 1"]),
            ("Straße 1 ", &[]),
            ("%lead", &[" lead"]),
            ("lead", &[]),
            ("", &[]),
            ("%%%", &names),
            ("q\"%", &["q\"uote"]),
            ("' OR 1=1", &[]),
        ];
        for (pattern, expected) in cases {
            assert_eq!(table_names(&connection, Name::Like(pattern)), expected, "{pattern}");
            let catalog = connection.catalog().expect("it begins");
            let columns = catalog.columns(Name::Any, Name::Like(pattern)).expect("columns");
            let found: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
            assert_eq!(found, expected, "{pattern}");
        }
        assert_eq!(table_names(&connection, Name::Like(&"%".repeat(10_000))).len(), names.len());
        assert_eq!(table_names(&connection, Name::Like(&"_".repeat(10_000))), [""; 0]);
        assert_eq!(table_names(&connection, Name::Is(&"x".repeat(10_000))), [""; 0]);
        // Longer than names of this release, but not of others; and in no character set of old ones.
        assert_eq!(table_names(&connection, Name::Is(&"ü".repeat(63))), [""; 0]);
        assert_eq!(table_names(&connection, Name::Is("x😀")), [""; 0]);
        assert_eq!(table_names(&connection, Name::Like("x😀%")), [""; 0]);
        assert_eq!(table_names(&connection, Name::Is("a_b  ")), ["a_b"], "as in SQL");
    },
    fn constraints_have_their_columns_in_order(target: &Target) {
        let connection = fresh(target);
        run(
            &connection,
            "CREATE TABLE parent (a INTEGER NOT NULL, b INTEGER NOT NULL, c INTEGER, \
             CONSTRAINT pk_parent PRIMARY KEY (b, a), CONSTRAINT \"uq Ö\" UNIQUE (c, a))",
        );
        run(
            &connection,
            "CREATE TABLE child (x INTEGER, y INTEGER NOT NULL, z INTEGER CHECK (z > 0 AND z < 10), \
             CONSTRAINT fk_pk FOREIGN KEY (x, y) REFERENCES parent ON UPDATE CASCADE ON DELETE SET NULL, \
             CONSTRAINT fk_uq FOREIGN KEY (z, y) REFERENCES parent (c, a), \
             CONSTRAINT ck CHECK (z > x OR x IS NULL))",
        );
        let catalog = connection.catalog().expect("it begins");
        let parent = catalog.constraints(Name::Is("PARENT")).expect("constraints");
        let found: Vec<_> =
            parent.iter().map(|each| (each.name.as_str(), each.kind, each.columns.join(","))).collect();
        assert_eq!(
            found,
            [
                ("PK_PARENT", ConstraintKind::PrimaryKey, "B,A".to_owned()),
                ("uq Ö", ConstraintKind::Unique, "C,A".to_owned())
            ]
        );
        assert!(parent.iter().all(|each| each.references.is_none() && each.check.is_none()));
        let child = catalog.constraints(Name::Like("CHI%")).expect("constraints");
        let get = |name: &str| child.iter().find(|each| each.name == name).expect("it is there");
        assert_eq!(child.len(), 4, "{child:?}");
        let to_key = get("FK_PK");
        assert_eq!((to_key.kind, to_key.columns.join(",")), (ConstraintKind::ForeignKey, "X,Y".into()));
        let references = to_key.references.as_ref().expect("a reference");
        assert_eq!((references.constraint.as_str(), references.table.as_str()), ("PK_PARENT", "PARENT"));
        assert_eq!(references.columns, ["B", "A"]);
        assert_eq!((references.on_update.as_str(), references.on_delete.as_str()), ("CASCADE", "SET NULL"));
        let references = get("FK_UQ").references.as_ref().expect("a reference");
        assert_eq!((references.constraint.as_str(), references.columns.join(",")), ("uq Ö", "C,A".into()));
        assert_eq!((references.on_update.as_str(), references.on_delete.as_str()), ("RESTRICT", "RESTRICT"));
        let check = get("CK");
        assert_eq!((check.kind, check.columns.join(",")), (ConstraintKind::Check, "X,Z".into()));
        assert_eq!(check.check.as_deref(), Some("CHECK (z > x OR x IS NULL)"));
        let unnamed = child.iter().find(|each| each.name.starts_with("INTEG_")).expect("it is there");
        assert_eq!((unnamed.kind, unnamed.columns.join(",")), (ConstraintKind::Check, "Z".into()));
        let all = catalog.constraints(Name::Any).expect("constraints");
        assert_eq!(all.len(), 6);
        assert!(all.iter().all(|each| each.name != "NOT NULL"));
    },
    fn indexes_tell_how_selective_they_are(target: &Target) {
        let connection = fresh(target);
        run(
            &connection,
            "CREATE TABLE t (id INTEGER NOT NULL, a INTEGER, b INTEGER, CONSTRAINT pk PRIMARY KEY (id))",
        );
        run(&connection, "CREATE TABLE empty (id INTEGER)");
        run(&connection, "CREATE INDEX nothing ON empty (id)");
        run(
            &connection,
            "EXECUTE BLOCK AS DECLARE i INTEGER = 0; BEGIN
                 WHILE (i < 1000) DO BEGIN
                     INSERT INTO t VALUES (:i, MOD(:i, 10), :i / 100); i = i + 1;
                 END
             END",
        );
        run(&connection, "CREATE DESCENDING INDEX ab ON t (a, b)");
        run(&connection, "CREATE UNIQUE INDEX \"by sum\" ON t COMPUTED BY (id + 1000)");
        run(&connection, "SET STATISTICS INDEX pk");
        let near = |found: Option<f64>, values: f64| {
            let selectivity = found.expect("it was computed");
            assert!((selectivity * values - 1.0).abs() < 1e-3, "{selectivity} of {values}");
        };
        let pk = index(&connection, "PK");
        assert_eq!((pk.table.as_str(), pk.constraint.as_deref(), pk.unique), ("T", Some("PK"), true));
        assert_eq!((pk.descending, pk.active, pk.segments.len()), (false, true, 1));
        near(pk.selectivity, 1000.0);
        let ab = index(&connection, "AB");
        let names: Vec<_> = ab.segments.iter().map(|segment| segment.column.as_str()).collect();
        assert_eq!((names, ab.unique, ab.descending, ab.constraint), (vec!["A", "B"], false, true, None));
        near(ab.segments[0].selectivity, 10.0);
        near(ab.segments[1].selectivity, 100.0);
        near(ab.selectivity, 100.0);
        let computed = index(&connection, "by sum");
        assert_eq!(computed.expression.as_deref(), Some("(id + 1000)"));
        assert!(computed.segments.is_empty() && computed.unique && computed.condition.is_none());
        let nothing = index(&connection, "NOTHING");
        assert_eq!((nothing.selectivity, nothing.segments[0].selectivity), (None, None));
        run(&connection, "ALTER INDEX ab INACTIVE");
        assert!(!index(&connection, "AB").active);
        let partial = connection.execute("CREATE INDEX part ON t (a) WHERE b > 5");
        match target.generation() {
            Generation::V5_0 => {
                partial.expect("it is created");
                let found = index(&connection, "PART").condition;
                assert_eq!(found.as_deref().map(str::trim), Some("WHERE b > 5"));
            }
            _ => assert_eq!(partial.expect_err("no such thing yet").kind(), Kind::Syntax),
        }
    },
    fn what_is_committed_meanwhile_is_seen(target: &Target) {
        let connection = fresh(target);
        let catalog = connection.catalog().expect("it begins");
        assert!(catalog.tables(Name::Any).expect("tables").is_empty());
        run(&connection, "CREATE TABLE t (id INTEGER)");
        assert_eq!(catalog.tables(Name::Any).expect("tables").len(), 1);
        run(&connection, "ALTER TABLE t ADD a VARCHAR(5)");
        assert_eq!(catalog.columns(Name::Is("T"), Name::Any).expect("columns").len(), 2);
        // Nothing is kept that stands in the way.
        run(&connection, "DROP TABLE t");
        assert!(catalog.columns(Name::Is("T"), Name::Any).expect("columns").is_empty());
    },
    fn the_switches_of_the_connection_do_not_matter(target: &Target) {
        let mut config = crate::support::fresh_closed(target);
        config.read = vec![("blobs".into(), "lazy".into()), ("text".into(), "large_utf8".into())];
        let connection = Connection::open(&config).expect("it opens");
        run(&connection, "CREATE TABLE t (id INTEGER DEFAULT 7)");
        assert_eq!(column(&connection, "T", "ID").default.as_deref(), Some("7"));
    },
    fn a_table_among_many_is_found_by_index(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (id INTEGER)");
        assert_eq!(columns(&connection, "T").len(), 1);
        let before = connection.counters().expect("counters");
        assert_eq!(columns(&connection, "T").len(), 1);
        let spent = connection.counters().expect("counters").since(&before);
        let reads = spent.tables.get(&RELATION_FIELDS).copied().unwrap_or_default();
        assert!(reads.sequential_reads == 0 && (1..10).contains(&reads.indexed_reads), "{reads:?}");
    }
);

matrix!(
    wire,
    fn a_question_asked_again_takes_one_round_trip(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (id INTEGER)");
        let catalog = connection.catalog().expect("it begins");
        assert_eq!(catalog.tables(Name::Like("T%")).expect("tables").len(), 1);
        let before = connection.wire_stats().round_trips;
        assert_eq!(catalog.tables(Name::Like("%T")).expect("tables").len(), 1);
        assert_eq!(connection.wire_stats().round_trips - before, 1);
    }
);
