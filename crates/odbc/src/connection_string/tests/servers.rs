//! What servers make of settings.

use super::{warnings, with};
use firearrow_driver::Session;
use firearrow_testkit::{Target as Server, matrix};

/// A session whose server converts times with zones, as the attributes `more` say.
fn session(server: &Server, more: &str) -> Result<Session, String> {
    let mut text = format!("URL={{{}}};CREATE_DB=Y;{more}", server.fresh_url());
    if let Server::Embedded(embedded) = server {
        text = format!("{text};CLIENT={{{}}}", embedded.engine.display());
    }
    let settings = with(&[], &text, Some(60)).map_err(|failure| failure.text)?;
    assert_eq!(warnings(&settings), []);
    Session::open(&settings.config, settings.session).map_err(|error| error.to_string())
}

fn type_of(session: &Session, sql: &str) -> String {
    let connection = session.connection().expect("it works");
    let cursor = connection.query(sql).expect("it prepares");
    format!("{:?}", cursor.schema().field(0).data_type())
}

matrix!(
    [firebird_4_0, firebird_5_0, embedded_5_0],
    fn rules_of_the_user_override_those_of_the_driver(server: &Server) {
        const SQL: &str = "SELECT CURRENT_TIMESTAMP FROM RDB$DATABASE";
        let legacy = "Timestamp(Microsecond, None)";
        let of = |more: &str| type_of(&session(server, more).expect("it connects"), SQL);
        assert_eq!(of("SETCOMPATBIND=INT128 TO VARCHAR"), legacy);
        assert_eq!(of(""), legacy);
        assert_eq!(of("SETCOMPATBIND=TIME ZONE TO CHAR"), "Utf8");
        assert_ne!(of("SETCOMPATBIND=TIME ZONE TO NATIVE"), legacy);
        assert_ne!(of("ENABLECOMPATBIND=N"), legacy);
        let error = session(server, "SETCOMPATBIND=NONSENSE").expect_err("it is no rule");
        assert!(error.contains("NONSENSE"), "{error}");
    }
);

matrix!(
    [firebird_3_0],
    fn old_servers_skip_rules_of_types(server: &Server) {
        let session = session(server, "SETCOMPATBIND=NONSENSE;TIMEZONE=UTC").expect("it connects");
        assert_eq!(
            type_of(&session, "SELECT CURRENT_TIMESTAMP FROM RDB$DATABASE"),
            "Timestamp(Microsecond, None)"
        );
    }
);
