//! What an engine warns of in statements that succeed.

use crate::support::{fresh, run};
use firearrow::{Config, Connection, Warning, gds};
use firearrow_testkit::scripted::{ScriptedServer, packet};
use firearrow_testkit::{Target, matrix};

/// `isc_ses_reset_warn`.
const SESSION_WAS_RESET: i32 = 335_545_208;

matrix!(
    all,
    fn statements_that_succeed_with_a_warning_say_so(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (id INTEGER)");
        assert_eq!(connection.take_statement_warnings(), [], "nothing was warned of");
        if !connection.has_firebird4() {
            return;
        }
        let mut transaction = connection.begin(Default::default()).expect("it starts");
        transaction.execute("INSERT INTO t VALUES (1)").expect("it inserts");
        transaction.execute("ALTER SESSION RESET").expect("a warning is no error");
        let warnings = connection.take_statement_warnings();
        let [warning @ Warning::Server(_)] = &warnings[..] else { panic!("{warnings:?}") };
        assert_eq!(warning.gds_codes()[0], SESSION_WAS_RESET, "{warning}");
        assert!(warning.to_string().contains("reset"), "{warning}");
        assert_eq!(connection.take_statement_warnings(), [], "they are told once");
        transaction.rollback().expect("it is open");
        assert!(connection.warnings().iter().all(|warning| !matches!(warning, Warning::Server(_))));
    }
);

/// A protocol with SRP and without pipelines.
const PROTOCOL: u16 = 13;

#[test]
fn any_answer_may_have_a_warning() {
    let answers = [
        packet::accept_data(PROTOCOL, &packet::srp_data(), false),
        packet::response(0, &[]),
        packet::warning(b"soon full"),
    ];
    let server = ScriptedServer::answering(PROTOCOL, answers.to_vec()).expect("a free port");
    let url = format!("firebird://alice:hunter2@{}/x?connect_timeout=15", server.address());
    let config = Config::parse_trusted(&url).expect("a valid URL");
    let connection = Connection::open(&config).expect("it opens");
    assert_eq!((connection.warnings(), connection.take_statement_warnings()), (&[][..], Vec::new()));
    connection.ping().expect("a warning is no error");
    let taken = connection.take_statement_warnings();
    assert_eq!(taken.iter().map(ToString::to_string).collect::<Vec<_>>(), ["soon full"]);
    assert_eq!(taken[0].gds_codes(), [gds::ISC_RANDOM]);
}
