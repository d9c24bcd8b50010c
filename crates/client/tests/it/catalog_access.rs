//! Who may do what, and what a user without privileges sees of the catalog.

use crate::support::{fresh_closed, run};
use firearrow::catalog::{Action, Catalog, Name, ObjectKind, Privilege};
use firearrow::{Config, Connection, Kind};
use firearrow_testkit::{Generation, Server, Target, matrix};

fn short(privilege: &Privilege) -> (Option<&str>, Action, &str, ObjectKind, bool) {
    let Privilege { column, action, grantee, grantee_kind, grantable, .. } = privilege;
    (column.as_deref(), *action, grantee, *grantee_kind, *grantable)
}

/// The configuration of a user who has been granted nothing.
fn of_stranger(target: &Target, config: &Config) -> Config {
    let mut config = config.clone();
    config.user = Some("LEGACYTEST".into());
    if let Target::Wire(_) = target {
        config.password = Some(Server::LEGACY_PASSWORD.into());
        config.auth_plugins = vec![firearrow::config::AuthPlugin::Legacy];
        config.wire_crypt = firearrow::config::WireCrypt::Disabled;
    }
    config
}

fn of(catalog: &Catalog, object: &str, grantee: &str) -> Vec<Privilege> {
    let all = catalog.privileges(Name::Is(object)).expect("privileges");
    all.into_iter().filter(|each| each.grantee == grantee).collect()
}

/// One object of each kind.
const ONE_OF_EACH: [&str; 6] = [
    "CREATE TABLE t (id INTEGER)",
    "CREATE SEQUENCE s",
    "CREATE PROCEDURE p (a INTEGER) AS BEGIN END",
    "CREATE FUNCTION f RETURNS INTEGER AS BEGIN RETURN 1; END",
    "CREATE TRIGGER tr FOR t BEFORE INSERT AS BEGIN END",
    "CREATE DOMAIN d AS INTEGER",
];

matrix!(
    all,
    fn privileges_are_told_as_they_were_granted(target: &Target) {
        let connection = Connection::open(&fresh_closed(target)).expect("it opens");
        for sql in [
            "CREATE TABLE \"Tä\" (id INTEGER, \"b \"\"1\" INTEGER)",
            "CREATE ROLE boss",
            "CREATE SEQUENCE s",
            "CREATE EXCEPTION x 'no'",
            "CREATE PROCEDURE p AS BEGIN END",
            "CREATE PACKAGE k AS BEGIN PROCEDURE q; END",
            "GRANT SELECT ON \"Tä\" TO PUBLIC",
            "GRANT UPDATE (\"b \"\"1\"), REFERENCES (id) ON \"Tä\" TO USER clerk WITH GRANT OPTION",
            "GRANT DELETE ON \"Tä\" TO PROCEDURE p",
            "GRANT INSERT ON \"Tä\" TO ROLE boss",
            "GRANT boss TO USER clerk WITH ADMIN OPTION",
            "GRANT USAGE ON SEQUENCE s TO ROLE boss",
            "GRANT USAGE ON EXCEPTION x TO USER clerk",
            "GRANT EXECUTE ON PROCEDURE p TO USER clerk",
            "GRANT EXECUTE ON PACKAGE k TO USER clerk",
            "GRANT CREATE TABLE TO USER clerk",
            "GRANT ALTER ANY VIEW TO USER clerk",
        ] {
            run(&connection, sql);
        }
        let catalog = connection.catalog().expect("it begins");
        let owner = connection.info().expect("info").user;
        let own: Vec<_> = of(&catalog, "Tä", &owner).into_iter().map(|each| each.action).collect();
        let all = [Action::Delete, Action::Insert, Action::References, Action::Select, Action::Update];
        assert_eq!(own, all);
        let granted = catalog.privileges(Name::Is("Tä")).expect("privileges");
        assert!(granted.iter().all(|each| each.grantor.as_deref() == Some(owner.as_str())));
        assert!(granted.iter().all(|each| each.object_kind == ObjectKind::Table && each.object == "Tä"));
        let others: Vec<_> = granted.iter().filter(|each| each.grantee != owner).map(short).collect();
        use ObjectKind::{Procedure, Role, User};
        assert_eq!(
            others,
            [
                (None, Action::Delete, "P", Procedure, false),
                (None, Action::Insert, "BOSS", Role, false),
                (None, Action::Select, "PUBLIC", User, false),
                (Some("ID"), Action::References, "CLERK", User, true),
                (Some("b \"1"), Action::Update, "CLERK", User, true),
            ]
        );
        let one = |object: &str, grantee: &str| {
            let mut found = of(&catalog, object, grantee);
            assert_eq!(found.len(), 1, "{object}");
            let found = found.remove(0);
            assert_eq!(found.column, None, "{object}");
            (found.object_kind, found.action, found.grantable)
        };
        assert_eq!(one("BOSS", "CLERK"), (ObjectKind::Role, Action::Member, true));
        assert_eq!(one("S", "BOSS"), (ObjectKind::Generator, Action::Usage, false));
        assert_eq!(one("X", "CLERK"), (ObjectKind::Exception, Action::Usage, false));
        assert_eq!(one("P", "CLERK"), (ObjectKind::Procedure, Action::Execute, false));
        assert_eq!(one("K", "CLERK"), (ObjectKind::Package, Action::Execute, false));
        assert_eq!(one("SQL$TABLES", "CLERK"), (ObjectKind::Ddl, Action::Create, false));
        assert_eq!(one("SQL$VIEWS", "CLERK"), (ObjectKind::Ddl, Action::Alter, false));
        assert!(catalog.privileges(Name::Is("NO_SUCH")).expect("privileges").is_empty());
        if target.generation() != Generation::V3_0 {
            run(&connection, "GRANT DEFAULT boss TO USER other");
            let granted = of(&catalog, "BOSS", "OTHER");
            assert_eq!((granted.len(), granted[0].default_role, &granted[0].column), (1, true, &None));
            assert!(!of(&catalog, "BOSS", "CLERK")[0].default_role);
        }
    },
    fn users_without_privileges_see_names_and_no_values(target: &Target) {
        let config = fresh_closed(target);
        let connection = Connection::open(&config).expect("it opens");
        ONE_OF_EACH.iter().for_each(|sql| run(&connection, sql));
        connection.close().expect("nothing is open");
        let stranger = Connection::open(&of_stranger(target, &config)).expect("it opens");
        assert_eq!(stranger.info().expect("info").user, "LEGACYTEST");
        let catalog = stranger.catalog().expect("it begins");
        assert_eq!(catalog.procedures(Name::Any).expect("procedures").len(), 1);
        assert_eq!(catalog.functions(Name::Any).expect("functions").len(), 1);
        assert_eq!(catalog.parameters(Name::Any, Name::Any).expect("parameters").len(), 2);
        assert_eq!(catalog.triggers(Name::Any, Name::Any).expect("triggers").len(), 1);
        assert_eq!(catalog.generators(Name::Any).expect("generators").len(), 1);
        assert_eq!(catalog.domains(Name::Any).expect("domains").len(), 1);
        assert_eq!(catalog.privileges(Name::Is("T")).expect("privileges").len(), 5);
        let refused = catalog.generator_value("S").expect_err("no privilege");
        assert_eq!(refused.kind(), Kind::Permission, "{refused}");
        assert!(refused.message().contains("USAGE"), "{refused}");
        assert_eq!(catalog.domains(Name::Any).expect("domains").len(), 1, "the transaction goes on");
    },
    fn the_asynchronous_catalog_answers_the_same(target: &Target) {
        let config = fresh_closed(target);
        let connection = Connection::open(&config).expect("it opens");
        ONE_OF_EACH.iter().for_each(|sql| run(&connection, sql));
        let catalog = connection.catalog().expect("it begins");
        let any = Name::Any;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let other = firearrow::asynchronous::Connection::open(&config).await.expect("it opens");
            let found = other.catalog().await.expect("it begins");
            macro_rules! same {
                ($($question:ident($($name:expr),*)),+ $(,)?) => { $(
                    let told = found.$question($($name),*).await.expect(stringify!($question));
                    assert_eq!(told, catalog.$question($($name),*).expect(stringify!($question)));
                )+ };
            }
            same!(
                limbo_transactions(),
                procedures(any),
                functions(any),
                parameters(any, any),
                privileges(any),
                triggers(any, any),
                generators(any),
                generator_value("S"),
                domains(any),
            );
        });
    }
);
