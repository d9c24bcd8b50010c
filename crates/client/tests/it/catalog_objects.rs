//! What else than tables a database consists of, read back after it was created.

use crate::support::{config, fresh, run};
use firearrow::Connection;
use firearrow::catalog::{
    BaseType, Catalog, Direction, Domain, Language, Name, Parameter, Phase, ProcedureKind, RowEvent,
    TriggerEvent,
};
use firearrow_testkit::{Generation, Target, matrix};

/// Every kind of routine, with names that need quotes.
fn with_routines(target: &Target) -> Connection {
    let connection = fresh(target);
    for sql in [
        "CREATE DOMAIN money AS NUMERIC(12,2) NOT NULL",
        "CREATE TABLE t (id INTEGER, name VARCHAR(10) CHARACTER SET UTF8 COLLATE UNICODE_CI)",
        "CREATE PROCEDURE \"Über \"\"alles\"\"\" (a INTEGER NOT NULL, \"b ß\" money = 1.5, c TYPE OF money DEFAULT NULL, \
         d TYPE OF COLUMN t.name = 'x') RETURNS (r VARCHAR(5) CHARACTER SET WIN1252, s money) \
         AS BEGIN r = 'x'; s = 1; SUSPEND; END",
        "COMMENT ON PROCEDURE \"Über \"\"alles\"\"\" IS 'wie es heißt'",
        "COMMENT ON PROCEDURE PARAMETER \"Über \"\"alles\"\"\".a IS 'der erste'",
        "CREATE PROCEDURE doit AS BEGIN END",
        "CREATE FUNCTION twice (n INTEGER = 1) RETURNS BIGINT NOT NULL DETERMINISTIC AS BEGIN RETURN n * 2; END",
        "COMMENT ON FUNCTION twice IS 'zweimal'",
        "DECLARE EXTERNAL FUNCTION \"Old\" CSTRING(255) CHARACTER SET WIN1252, INTEGER RETURNS NUMERIC(9,2) BY VALUE \
         ENTRY_POINT 'old' MODULE_NAME 'lib'",
        "DECLARE EXTERNAL FUNCTION by_place INTEGER, DOUBLE PRECISION, DATE RETURNS PARAMETER 2 \
         ENTRY_POINT 'place' MODULE_NAME 'lib'",
        "CREATE PACKAGE \"Pkg\" AS BEGIN PROCEDURE shown (x SMALLINT) RETURNS (y SMALLINT); \
         FUNCTION twice (n CHAR(3) CHARACTER SET ASCII) RETURNS BOOLEAN; END",
        "CREATE PACKAGE BODY \"Pkg\" AS BEGIN \
         PROCEDURE hidden (z INTEGER) AS BEGIN END \
         FUNCTION hidden_too (z INTEGER) RETURNS INTEGER AS BEGIN RETURN 1; END \
         PROCEDURE shown (x SMALLINT) RETURNS (y SMALLINT) AS BEGIN y = x; END \
         FUNCTION twice (n CHAR(3) CHARACTER SET ASCII) RETURNS BOOLEAN AS BEGIN RETURN TRUE; END END",
    ] {
        run(&connection, sql);
    }
    connection
}

fn catalog(connection: &Connection) -> Catalog {
    connection.catalog().expect("it begins")
}

fn parameters(connection: &Connection, routine: &str) -> Vec<Parameter> {
    catalog(connection).parameters(Name::Is(routine), Name::Any).expect("parameters")
}

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

matrix!(
    all,
    fn procedures_are_told_as_they_were_created(target: &Target) {
        let connection = with_routines(target);
        let catalog = catalog(&connection);
        let all = catalog.procedures(Name::Any).expect("procedures");
        let names: Vec<_> = all.iter().map(|each| (each.package.as_deref(), each.name.as_str())).collect();
        assert_eq!(names, [(None, "DOIT"), (None, "Über \"alles\""), (Some("Pkg"), "SHOWN")]);
        let kinds: Vec<_> = all.iter().map(|each| each.kind).collect();
        let executable = Some(ProcedureKind::Executable);
        assert_eq!(kinds, [executable, Some(ProcedureKind::Selectable), executable]);
        assert_eq!((all[1].inputs, all[1].outputs, &all[1].language), (4, 2, &Language::Psql));
        assert_eq!((&all[1].remarks, &all[0].remarks), (&text("wie es heißt"), &None));
        assert_eq!(all[0].source.as_deref().map(str::trim), Some("BEGIN END"));
        assert_eq!((&all[0].owner, &all[2].source), (&text(&connection.info().expect("info").user), &None));
        let found = catalog.procedures(Name::Is("Über \"alles\"")).expect("procedures");
        assert_eq!(found, all[1..2]);
        assert_eq!(catalog.procedures(Name::Like("%ber%")).expect("procedures"), all[1..2]);
        assert!(catalog.procedures(Name::Is("HIDDEN")).expect("procedures").is_empty());
    },
    fn functions_are_told_as_they_were_created(target: &Target) {
        let connection = with_routines(target);
        let catalog = catalog(&connection);
        let all = catalog.functions(Name::Any).expect("functions");
        let names: Vec<_> = all.iter().map(|each| (each.package.as_deref(), each.name.as_str())).collect();
        let expected = [(None, "BY_PLACE"), (None, "Old"), (None, "TWICE"), (Some("Pkg"), "TWICE")];
        assert_eq!(names, expected);
        let udf = |entry: &str| Language::Udf { module: "lib".into(), entry_point: text(entry) };
        let languages: Vec<_> = all.into_iter().map(|each| each.language).collect();
        assert_eq!(languages, [udf("place"), udf("old"), Language::Psql, Language::Psql]);
        let twice = catalog.functions(Name::Is("TWICE")).expect("functions").remove(0);
        assert_eq!((twice.deterministic, &twice.remarks), (true, &text("zweimal")));
        assert_eq!(twice.source.as_deref().map(str::trim), Some("BEGIN RETURN n * 2; END"));
    },
    fn parameters_are_typed_as_columns_are(target: &Target) {
        let connection = with_routines(target);
        let all = parameters(&connection, "Über \"alles\"");
        let found: Vec<_> = all
            .iter()
            .map(|each| {
                let name = each.name.as_deref().expect("a name");
                (name, each.direction, each.position, each.nullable, each.default.as_deref())
            })
            .collect();
        let (input, output) = (Direction::In, Direction::Out);
        assert_eq!(
            found,
            [
                ("A", input, 1, false, None),
                ("b ß", input, 2, false, Some("1.5")),
                ("C", input, 3, true, Some("NULL")),
                ("D", input, 4, true, Some("'x'")),
                ("R", output, 1, true, None),
                ("S", output, 2, false, None),
            ]
        );
        let domains: Vec<_> = all.iter().map(|each| each.domain.as_deref()).collect();
        assert_eq!(domains, [None, Some("MONEY"), Some("MONEY"), None, None, Some("MONEY")]);
        assert_eq!((all[1].data_type.precision, all[1].data_type.scale), (Some(12), 2));
        assert_eq!(
            (all[3].data_type.characters, &all[3].data_type.collation),
            (Some(10), &text("UNICODE_CI"))
        );
        assert_eq!((all[4].data_type.length, &all[4].data_type.charset), (5, &text("WIN1252")));
        assert_eq!((&all[0].remarks, &all[1].remarks), (&text("der erste"), &None));
        let found = catalog(&connection).parameters(Name::Any, Name::Is("b ß")).expect("parameters");
        assert_eq!(found, all[1..2]);
    },
    fn results_of_functions_are_parameters(target: &Target) {
        let connection = with_routines(target);
        let of = |routine: &str| {
            let all = parameters(&connection, routine);
            let describe = |each: Parameter| {
                (each.direction, each.position, each.name, each.data_type.base, each.nullable, each.default)
            };
            all.into_iter().map(describe).collect::<Vec<_>>()
        };
        let (input, result) = (Direction::In, Direction::Return);
        let inputs_first = of("TWICE");
        assert_eq!(
            inputs_first,
            [
                (input, 1, text("N"), BaseType::Integer, true, text("1")),
                (result, 0, None, BaseType::BigInt, false, None),
                (input, 1, text("N"), BaseType::Char, true, None),
                (result, 0, None, BaseType::Boolean, true, None),
            ]
        );
        assert_eq!(
            of("Old"),
            [
                (input, 1, None, BaseType::VarChar, true, None),
                (input, 2, None, BaseType::Integer, true, None),
                (result, 0, None, BaseType::Numeric, true, None),
            ]
        );
        assert_eq!(
            of("BY_PLACE"),
            [
                (input, 1, None, BaseType::Integer, true, None),
                (input, 2, None, BaseType::Date, true, None),
                (result, 0, None, BaseType::DoublePrecision, true, None),
            ]
        );
        let old = parameters(&connection, "Old").remove(0).data_type;
        assert_eq!((old.characters, old.charset), (Some(255), text("WIN1252")));
        let nameless = catalog(&connection).parameters(Name::Is("Old"), Name::Is("")).expect("parameters");
        assert_eq!(nameless.len(), 3);
        assert!(of("HIDDEN").is_empty() && of("HIDDEN_TOO").is_empty() && of("DOIT").is_empty());
    },
    fn triggers_tell_when_they_run(target: &Target) {
        let connection = fresh(target);
        for sql in [
            "CREATE TABLE \"Tä\" (id INTEGER, CHECK (id > 0))",
            "CREATE TRIGGER \"b \"\"1\" FOR \"Tä\" INACTIVE BEFORE UPDATE OR INSERT POSITION 7 AS BEGIN END",
            "CREATE TRIGGER c FOR \"Tä\" AFTER DELETE AS BEGIN END",
            "COMMENT ON TRIGGER c IS 'nachher'",
            "CREATE TRIGGER d ON DISCONNECT POSITION 3 AS BEGIN END",
            "CREATE TRIGGER e AFTER CREATE TABLE OR DROP MAPPING AS BEGIN END",
            "CREATE TRIGGER f BEFORE ANY DDL STATEMENT AS BEGIN END",
        ] {
            run(&connection, sql);
        }
        let catalog = catalog(&connection);
        let all = catalog.triggers(Name::Any, Name::Any).expect("triggers");
        let found: Vec<_> = all
            .iter()
            .map(|each| {
                (each.name.as_str(), each.table.as_deref(), each.phase, each.event.to_string(), each.position)
            })
            .collect();
        assert_eq!(
            found,
            [
                ("C", Some("Tä"), Some(Phase::After), "DELETE".into(), 0),
                ("D", None, None, "DISCONNECT".into(), 3),
                ("E", None, Some(Phase::After), "CREATE TABLE OR DROP MAPPING".into(), 0),
                ("F", None, Some(Phase::Before), "ANY DDL STATEMENT".into(), 0),
                ("b \"1", Some("Tä"), Some(Phase::Before), "UPDATE OR INSERT".into(), 7),
            ]
        );
        assert_eq!(all[4].event, TriggerEvent::Rows(vec![RowEvent::Update, RowEvent::Insert]));
        let active: Vec<_> = all.iter().map(|each| each.active).collect();
        assert_eq!(active, [true, true, true, true, false]);
        assert_eq!((&all[0].remarks, &all[0].language), (&text("nachher"), &Language::Psql));
        assert_eq!(all[0].source.as_deref(), Some("AS BEGIN END"));
        let of_table = catalog.triggers(Name::Is("Tä"), Name::Any).expect("triggers");
        assert_eq!(of_table, [all[0].clone(), all[4].clone()]);
        assert_eq!(catalog.triggers(Name::Any, Name::Is("b \"1")).expect("triggers"), all[4..]);
        assert!(catalog.triggers(Name::Is("T"), Name::Any).expect("triggers").is_empty());
        let with_system = catalog.with_system_tables(true);
        // Those of the CHECK.
        assert_eq!(with_system.triggers(Name::Is("Tä"), Name::Any).expect("triggers").len(), 4);
    },
    fn generators_tell_how_they_count(target: &Target) {
        let connection = fresh(target);
        for sql in [
            "CREATE SEQUENCE \"seq ß\"\"\" START WITH 9000000000000000000 INCREMENT BY -5",
            "COMMENT ON SEQUENCE \"seq ß\"\"\" IS 'rückwärts'",
            "CREATE GENERATOR g",
            "CREATE TABLE t (id INTEGER GENERATED BY DEFAULT AS IDENTITY)",
        ] {
            run(&connection, sql);
        }
        let catalog = catalog(&connection);
        let all = catalog.generators(Name::Any).expect("generators");
        let names: Vec<_> = all.iter().map(|each| each.name.as_str()).collect();
        assert_eq!(names, ["G", "seq ß\""]);
        let starts_at_one = target.generation() != Generation::V3_0;
        assert_eq!((all[0].initial_value, all[0].increment), (starts_at_one.into(), 1));
        assert_eq!((all[1].initial_value, all[1].increment), (9_000_000_000_000_000_000, -5));
        assert_eq!(all[1].remarks, text("rückwärts"));
        let before = catalog.generator_value("seq ß\"").expect("a value");
        // Before Firebird 4, START WITH is the value that it has, not the one that it gives next.
        assert_eq!(before, 9_000_000_000_000_000_000 + if starts_at_one { 5 } else { 0 });
        assert_eq!(catalog.generator_value("seq ß\"").expect("a value"), before, "asking changes nothing");
        run(&connection, "EXECUTE BLOCK AS DECLARE n BIGINT; BEGIN n = NEXT VALUE FOR \"seq ß\"\"\"; END");
        assert_eq!(catalog.generator_value("seq ß\"").expect("a value"), before - 5);
        assert!(catalog.generator_value("NO_SUCH").is_err() && catalog.generator_value("a\0b").is_err());
        assert!(catalog.generators(Name::Is("NO_SUCH")).expect("generators").is_empty());
        assert!(catalog.with_system_tables(true).generators(Name::Any).expect("generators").len() > 3);
    },
    fn domains_tell_what_they_allow(target: &Target) {
        let connection = fresh(target);
        for sql in [
            "CREATE DOMAIN \"Geld €\" AS NUMERIC(12,2) DEFAULT 17.5 NOT NULL CHECK (VALUE >= 0)",
            "CREATE DOMAIN word AS VARCHAR(20) CHARACTER SET UTF8 COLLATE UNICODE_CI",
            "COMMENT ON DOMAIN word IS 'ein Wort'",
            "CREATE DOMAIN grid AS INTEGER [3, -1:2]",
            "CREATE TABLE t (id INTEGER)",
        ] {
            run(&connection, sql);
        }
        let catalog = catalog(&connection);
        let all = catalog.domains(Name::Any).expect("domains");
        let names: Vec<_> = all.iter().map(|each| each.name.as_str()).collect();
        assert_eq!(names, ["GRID", "Geld €", "WORD"]);
        let Domain { data_type, nullable, default, check, remarks, .. } = &all[1];
        assert_eq!((data_type.base, data_type.precision, data_type.scale), (BaseType::Numeric, Some(12), 2));
        assert_eq!((nullable, default, remarks), (&false, &text("17.5"), &None));
        assert_eq!(check, &text("CHECK (VALUE >= 0)"));
        assert_eq!((&all[2].data_type.collation, all[2].nullable), (&text("UNICODE_CI"), true));
        assert_eq!((&all[2].remarks, &all[2].default, &all[2].check), (&text("ein Wort"), &None, &None));
        assert_eq!(all[0].data_type.dimensions, [(1, 3), (-1, 2)]);
        assert_eq!(catalog.domains(Name::Is("Geld €")).expect("domains"), all[1..2]);
        let system = catalog.with_system_tables(true).domains(Name::Any).expect("domains");
        assert!(system.iter().any(|each| each.name == "RDB$FIELD_NAME") && system.len() > 50);
        assert!(system.iter().all(|each| each.name != "RDB$1"));
    },
    fn an_empty_database_has_none_of_its_own(target: &Target) {
        let connection = fresh(target);
        let catalog = catalog(&connection);
        assert!(catalog.procedures(Name::Any).expect("procedures").is_empty());
        assert!(catalog.functions(Name::Any).expect("functions").is_empty());
        assert!(catalog.parameters(Name::Any, Name::Any).expect("parameters").is_empty());
        assert!(catalog.privileges(Name::Any).expect("privileges").is_empty());
        assert!(catalog.triggers(Name::Any, Name::Any).expect("triggers").is_empty());
        assert!(catalog.generators(Name::Any).expect("generators").is_empty());
        assert!(catalog.domains(Name::Any).expect("domains").is_empty());
        let catalog = catalog.with_system_tables(true);
        assert!(catalog.privileges(Name::Is("RDB$RELATIONS")).expect("privileges").len() >= 5);
        // Firebird 4 brought the first packages of the engine.
        let has_packages = target.generation() != Generation::V3_0;
        let procedures = catalog.procedures(Name::Is("TRANSITIONS")).expect("procedures");
        assert_eq!(procedures.len(), usize::from(has_packages));
        let parameters = catalog.parameters(Name::Is("TRANSITIONS"), Name::Any).expect("parameters");
        assert_eq!(parameters.len() > 5, has_packages);
    },
    fn dialect_one_answers_the_same(target: &Target) {
        let mut config = config(target, &target.fresh_url());
        config.set("dialect", "1").expect("it is an option");
        let connection = Connection::create(&config).expect("it can be created");
        for sql in [
            "CREATE DOMAIN d AS NUMERIC(9,2) DEFAULT 1.5",
            "CREATE GENERATOR g",
            "CREATE PROCEDURE p (a d, b DATE) RETURNS (c DOUBLE PRECISION) AS BEGIN c = 1; END",
            "CREATE FUNCTION f (a VARCHAR(3)) RETURNS INTEGER AS BEGIN RETURN 1; END",
            "CREATE TRIGGER t AFTER ANY DDL STATEMENT AS BEGIN END",
            "EXECUTE BLOCK AS DECLARE i INTEGER = 0; DECLARE n DOUBLE PRECISION; BEGIN \
             WHILE (i < 3) DO BEGIN n = GEN_ID(g, 2000000000); i = i + 1; END END",
        ] {
            run(&connection, sql);
        }
        let catalog = catalog(&connection);
        assert_eq!(catalog.procedures(Name::Any).expect("procedures")[0].name, "P");
        assert_eq!(catalog.functions(Name::Any).expect("functions")[0].name, "F");
        let parameters = catalog.parameters(Name::Any, Name::Any).expect("parameters");
        let types: Vec<_> = parameters.iter().map(|each| each.data_type.base).collect();
        use BaseType::{DoublePrecision, Integer, Numeric, Timestamp, VarChar};
        assert_eq!(types, [VarChar, Integer, Numeric, Timestamp, DoublePrecision]);
        // Numbers of 64 bits are whole, although the dialect has none.
        let triggers = catalog.triggers(Name::Any, Name::Any).expect("triggers");
        assert_eq!(triggers[0].event, TriggerEvent::AnyStatement);
        assert_eq!(catalog.generator_value("G").expect("a value"), 6_000_000_000);
        assert_eq!(catalog.domains(Name::Any).expect("domains")[0].default, text("1.5"));
        assert_eq!(catalog.privileges(Name::Is("P")).expect("privileges").len(), 1);
    }
);
