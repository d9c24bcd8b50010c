//! `profile://NAME`

use crate::command::{Outcome, argument, finish, prepare};
use crate::ddl::made_by;
use firearrow_testkit::{Server, Target, matrix};
use std::fs;

matrix!(
    all,
    fn profiles_name_databases(target: &Target) {
        let url = made_by(target, "", "CREATE TABLE t (id INTEGER); INSERT INTO t VALUES (7)");
        let login = format!("{}:{}@", Server::USER, Server::PASSWORD);
        let bare = url.replacen(&login, "", 1);
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| {
            fs::write(folder.path().join(format!("{name}.toml")), text).expect("a file");
        };
        let run = |arguments: &[&str]| -> Outcome {
            let mut command = prepare(Some(target), arguments);
            command.env("ADBC_PROFILE_PATH", folder.path()).env("SHOP_PASSWORD", Server::PASSWORD);
            finish(command.output().expect("it starts"))
        };
        let start = format!("profile_version = 1\ndriver = \"firebird\"\n[Options]\nuri = \"{bare}\"\n");
        let login =
            format!("username = \"{}\"\npassword = \"{{{{ env_var(SHOP_PASSWORD) }}}}\"\n", Server::USER);
        write("shop", &format!("{start}{login}\"adbc.firebird.process_name\" = \"the shop\"\n"));
        let sql = "SELECT id FROM t, MON$ATTACHMENTS a WHERE a.MON$ATTACHMENT_ID = CURRENT_CONNECTION \
            AND a.MON$REMOTE_PROCESS = 'the shop'";
        let found = run(&["query", "profile://shop", sql, "--format", "csv"]).success();
        assert_eq!(found.text(), "ID\r\n7\r\n");

        run(&["info", "profile://shop", "--password-file", "/nonexistent"])
            .failure(2, &["the profile has a password, too"]);

        for missing in ["profile://shopp", "profile://./shop", "profile:///etc/passwd", "profile://"] {
            run(&["info", missing])
                .failure(1, &["there is no such profile", "NAME.toml in ~/.config/adbc/profiles"]);
        }
        let unset = login.replace("SHOP_PASSWORD", "NO_SUCH_PASSWORD");
        write("unset", &format!("{start}{unset}"));
        let outcome = run(&["info", "profile://unset"]);
        let told = "profile://unset: the variable NO_SUCH_PASSWORD of its password is not set";
        assert!(outcome.stderr.contains(told), "{}", outcome.stderr);
        let file = folder.path().join("password");
        fs::write(&file, Server::PASSWORD).unwrap();
        let outcome = run(&["info", "profile://unset", "--password-file", argument(&file)]).success();
        assert_eq!(outcome.stderr.matches(told).count(), 1, "{}", outcome.stderr);
        write("own", &format!("{start}\"adbc.firebird.password\" = \"{}\"\n", Server::PASSWORD));
        run(&["info", "profile://own", "--password-file", "/nonexistent"])
            .failure(2, &["the profile has a password, too"]);
        // Options of drivers, and no quotation of the file.
        write("more", &format!("{start}{login}\"adbc.firebird.query.batch_rows\" = 5\n"));
        run(&["query", "profile://more", "SELECT id FROM t"]).success();
        write("broken", &format!("{start}password = \"{}\n", Server::PASSWORD));
        run(&["info", "profile://broken"]).failure(1, &["profile://broken: TOML parse error at line 5"]);
        write("odd", &format!("{start}{login}\"adbc.firebird.wire_cript\" = \"required\"\n"));
        run(&["info", "profile://odd"])
            .failure(1, &["profile://odd, adbc.firebird.wire_cript: ", "wire_crypt"]);
        write("other", "profile_version = 1\ndriver = \"sqlite\"\n[Options]\nuri = \":memory:\"\n");
        run(&["info", "profile://other"])
            .failure(1, &["profile://other is for the driver sqlite, not for firebird"]);
        write("empty", "profile_version = 1\ndriver = \"firebird\"\n[Options]\n");
        run(&["info", "profile://empty"]).failure(1, &["profile://empty: it has no uri"]);
    }
);
