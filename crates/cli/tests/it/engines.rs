//! Which embedded engines there are, and which of them can open a database.

use crate::command::{finish, prepare};
use crate::ddl::made_by;
use firearrow_testkit::{Generation, Skip, Target, engine, matrix};

matrix!(
    embedded,
    fn an_engine_that_cannot_open_a_database_names_one_that_can(target: &Target) -> Result<(), Skip> {
        let url = made_by(target, "", "CREATE TABLE t (id INTEGER)");
        let older = engine(Generation::V3_0).ok_or_else(|| Skip {
            name: "embedded 3.0".to_owned(),
            reason: "not here: run `make setup`".to_owned(),
        })?;
        let run = |arguments: &[&str]| {
            let mut command = prepare(None, arguments);
            command.env("FIREARROW_ENGINE", &older).env("FIREARROW_ENGINE_PATH", target.engine());
            finish(command.output().expect("it starts"))
        };
        let library = target.engine().join("libfbclient.so.2").display().to_string();
        run(&["tables", &url]).failure(
            1,
            &[
                "structure 13.1 of Firebird 5.0, which the engine of Firebird 3.0 (",
                &format!("set FIREARROW_ENGINE={library}"),
            ],
        );

        let list = run(&["info", "--engines"]).success();
        assert!(
            list.text().starts_with("Firebird 3.0 (Python package), opens ODS 12; local databases are"),
            "{list:?}"
        );
        let list = run(&["info", "--engines", "--json"]).success().json();
        let listed: Vec<_> = list.as_array().unwrap().iter().map(|entry| &entry["library"]).collect();
        assert_eq!(listed[0], &older.join("libfbclient.so.2").display().to_string());
        assert!(listed.iter().any(|path| **path == library), "{list}");
        let newer = list.as_array().unwrap().iter().find(|entry| entry["library"] == library).unwrap();
        assert_eq!((&newer["firebird"], &newer["opens_ods"]), (&"5.0".into(), &"13.0 and 13.1".into()));
        Ok(())
    }
);
