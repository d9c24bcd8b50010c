//! What is the same on all systems.

use super::platform::tests::place;
use super::*;

#[test]
fn what_would_not_connect_is_not_added() {
    let place = place();
    let absolute = |path| std::path::absolute(path).expect("there is a current folder");
    let refused = |text: &str| {
        let error = place.add("A", text, Scope::User).expect_err(text);
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{error}");
        error.to_string()
    };
    for path in ["just some text", "shop.fdb", "data/shop.fdb"] {
        let whole = absolute(path);
        let expected = format!(
            "'{path}' names no server and is no full path; write host:path, or {} for a file of this machine",
            whole.display()
        );
        assert_eq!(refused(path), expected);
        assert_eq!(refused(&format!("Dbname={path};ReadOnly=Y")), expected);
    }
    assert!(refused("./shop.fdb").contains(&format!("or {} for", absolute("shop.fdb").display())));
    let text = refused("db:shop;ReadOnly=Y");
    assert_eq!(text, "keywords follow the database, so it needs one as well: Dbname=db:shop;ReadOnly=…");
    let text = refused("firebird://u:secret@db/shop;Pwd=secret");
    assert!(text.ends_with("Dbname=host:path;Pwd=…") && !text.contains("secret"), "{text}");
    assert_eq!(list_in(&place.registry).expect("read"), []);
    for (name, text) in [
        ("a", "/data/shop.fdb"),
        ("b", "embedded:employee"),
        ("c", "Server=db;Dbname=employee"),
        ("d", "C:\\shop.fdb"),
        ("e", "firebird://db/shop?role=r"),
    ] {
        place.add(name, text, Scope::User).expect(text);
    }
}

#[test]
fn plans_come_from_names_strings_and_urls() {
    let no_variables = |_: &str| None;
    for text in [
        "DBNAME=h:x;READONLY=y;CONNSETTINGS=SELECT 1 FROM t",
        "firebird://h/x?readonly=y&connsettings=SELECT%201%20FROM%20t",
    ] {
        let plan = plan(text, &no_variables).expect(text);
        assert_eq!(plan.config.target.database(), "x");
        assert!(plan.session.read_only);
        assert_eq!((plan.statements, plan.warnings), (vec!["SELECT 1 FROM t".to_owned()], vec![]));
    }
    for (text, database) in [("h:x", "x"), ("h/3051:x", "x"), ("/data/x.fdb", "/data/x.fdb")] {
        assert_eq!(plan(text, &no_variables).expect(text).config.target.database(), database);
    }
    for text in ["no such data source", "DSN=no such data source;Pwd=x"] {
        let error = plan(text, &no_variables).expect_err("none");
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert_eq!(error.to_string(), "there is no data source 'no such data source'");
    }
    assert_eq!(plan("UID=x", &no_variables).expect_err("no database").kind(), io::ErrorKind::InvalidInput);
}
