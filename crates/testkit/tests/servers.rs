//! Each generation starts, lets its users in, and leaves nothing behind.

use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use firearrow_testkit::{
    Generation, Host, Server, ServerConfig, Target, WireCrypt, engine, matrix, platform, run, servers,
    shared, this_program,
};

matrix!(
    wire,
    fn both_users_log_in(target: &Target) -> std::io::Result<()> {
        let server = target.server();
        let path = server.fresh_database_path();
        server.create_database(&path)?;
        assert!(path.is_file(), "server and test call a database by the same path");
        let version = server.isql(&path, QUERY_VERSION)?;
        assert!(version.contains(server.version()), "{version}");
        let method = server.isql(&path, QUERY_METHOD)?;
        assert!(method.contains("Srp256"), "{method}");
        let method = server.isql_as(Server::LEGACY_USER, Server::LEGACY_PASSWORD, &path, QUERY_METHOD)?;
        assert!(method.contains("Legacy_Auth"), "{method}");
        Ok(())
    },
    fn wrong_password_is_refused(target: &Target) -> std::io::Result<()> {
        let server = target.server();
        let path = server.fresh_database_path();
        server.create_database(&path)?;
        let error = server.isql_as(Server::USER, "wrong", &path, QUERY_METHOD).unwrap_err().to_string();
        assert!(error.contains("user name and password"), "{error}");
        Ok(())
    },
    fn alias_leads_into_the_private_folder(target: &Target) -> std::io::Result<()> {
        let server = target.server();
        server.create_database(Path::new(Server::ALIAS))?;
        assert!(server.database_path("alias").is_file());
        Ok(())
    },
    fn character_sets_collations_and_zones_work(target: &Target) -> std::io::Result<()> {
        let server = target.server();
        let path = server.fresh_database_path();
        server.create_database(&path)?;
        let text = server.isql(&path, "SELECT CAST(_WIN1252 X'E9' AS VARCHAR(4) CHARACTER SET UTF8) COLLATE UNICODE_CI FROM RDB$DATABASE;")?;
        assert!(text.contains('é'), "{text}");
        if server.generation() > Generation::V3_0 {
            let text = server.isql(
                &path,
                "SELECT TIMESTAMP '2020-07-01 12:00 Europe/Berlin' AT TIME ZONE 'GMT' FROM RDB$DATABASE;",
            )?;
            assert!(text.contains("10:00:00"), "{text}");
        }
        Ok(())
    },
    fn client_library_is_a_file(target: &Target) {
        let server = target.server();
        match server.client_library() {
            Some(library) => assert!(library.is_file()),
            // 4.0 borrows the one of an embedded engine, which may be absent; a host's may be for other programs.
            None => assert!(
                server.generation() == Generation::V4_0 && engine(Generation::V4_0).is_none()
                    || has_host() && !cfg!(all(target_os = "linux", target_arch = "x86_64"))
            ),
        }
    }
);

matrix!(
    embedded,
    fn embedded_engine_has_a_folder(target: &Target) {
        let Target::Embedded(embedded) = target else { panic!("{target}") };
        assert!(embedded.engine.join("plugins/libEngine13.so").is_file());
        assert!(Path::new(&target.url("x")).is_absolute());
        assert_eq!(target.name(), "embedded_5_0");
    }
);

#[test]
fn urls_are_canonical() {
    for server in servers() {
        let expected = format!("firebird://SYSDBA:masterkey@127.0.0.1:{}//", server.port());
        assert!(server.url("x").starts_with(&expected), "{}", server.url("x"));
        assert!(server.url("x").ends_with("/data/x.fdb"));
        assert_ne!(server.fresh_database_path(), server.fresh_database_path());
    }
}

#[test]
fn dropped_server_leaves_nothing() {
    for generation in Generation::ALL {
        let Ok(server) = Server::start(generation) else { continue };
        let (id, address) = (server.process_id(), server.address());
        let root = server.root().to_owned();
        TcpStream::connect_timeout(&address, Duration::from_secs(5)).unwrap();
        drop(server);
        assert!(!Path::new(&format!("/proc/{id}")).exists(), "{generation} is still there");
        assert!(!root.exists(), "the root folder of {generation} is still there");
        TcpStream::connect_timeout(&address, Duration::from_secs(5)).unwrap_err();
    }
}

#[test]
fn special_settings_are_obeyed() {
    for generation in Generation::ALL {
        let config = ServerConfig {
            wire_crypt: WireCrypt::Disabled,
            auth_server: Some(vec!["Legacy_Auth".into()]),
            extra: vec!["DefaultDbCachePages = 77".into()],
            ..ServerConfig::default()
        };
        let Ok(server) = Server::start_with(generation, &config) else { continue };
        let path = server.fresh_database_path();
        server.create_database(&path).unwrap(); // SYSDBA has a legacy password as well: security.sql made it
        let answer = server.isql(&path, "SELECT MON$PAGE_BUFFERS FROM MON$DATABASE;").unwrap();
        assert!(answer.contains(" 77"), "{generation}: {answer}");
        assert!(server.isql(&path, QUERY_METHOD).unwrap().contains("Legacy_Auth"));
    }
}

#[test]
#[should_panic(expected = "does not start")]
fn installed_server_that_does_not_start_fails_with_its_log() {
    let config = ServerConfig { extra: vec!["include nowhere.conf".into()], ..ServerConfig::default() };
    let mut started = false;
    for generation in Generation::ALL {
        started |= Server::start_with(generation, &config).is_ok();
    }
    assert!(started, "no server is installed, so none does not start");
}

/// The shared server must go when its process ends, in each of the ways in which a process ends. This binary runs
/// itself with [`PLAY`] set: the next test then starts a server, tells its number, and ends in the way asked for.
#[test]
fn shared_server_ends_with_its_process() {
    for way in ["return", "exit", "abort"] {
        let reports = tempfile::tempdir().unwrap();
        let note = reports.path().join("server");
        let mut child = this_program()
            .unwrap()
            .args(["--exact", "play_a_test_process", "--ignored"])
            .stdout(Stdio::null())
            .env(PLAY, format!("{way} {}", note.display()))
            .env_remove("FIREARROW_TEST_REPORT")
            .spawn()
            .unwrap();
        let deadline = Instant::now() + Duration::from_secs(60);
        while child.try_wait().unwrap().is_none() {
            assert!(Instant::now() < deadline, "{way} takes too long");
            thread::sleep(Duration::from_millis(5));
        }
        let Ok(note) = std::fs::read_to_string(note) else { return }; // no server is installed
        let (id, folder) = note.split_once(' ').unwrap();
        let process = PathBuf::from(format!("/proc/{id}"));
        while process.exists() {
            assert!(Instant::now() < deadline, "the server outlives its process after {way}");
            thread::sleep(Duration::from_millis(5));
        }
        if has_host() {
            // The host ends it when it learns that the process has ended, then removes its folder.
            while Path::new(folder).exists() {
                assert!(Instant::now() < deadline, "the folder is still there after {way}");
                thread::sleep(Duration::from_millis(5));
            }
        } else {
            // After an abort the kernel kills the server, but the folder stays for the next sweep.
            assert_eq!(Path::new(folder).exists(), way == "abort", "{way}");
        }
        let _ = std::fs::remove_dir_all(folder);
    }
}

#[test]
#[ignore = "a part of another test"]
fn play_a_test_process() {
    let Ok(play) = std::env::var(PLAY) else { return };
    let (way, note) = play.split_once(' ').unwrap();
    let start = || Generation::ALL.into_iter().find_map(|generation| shared(generation).ok());
    let Some(server) = thread::spawn(start).join().unwrap() else { return };
    TcpStream::connect_timeout(&server.address(), Duration::from_secs(5))
        .expect("it survives the thread that started it");
    std::fs::write(note, format!("{} {}", server.process_id(), server.root().display())).unwrap();
    match way {
        "exit" => std::process::exit(0),
        "abort" => std::process::abort(),
        _ => (),
    }
}

#[test]
fn outcomes_are_reported() {
    // The report's variable belongs to the whole process, so a second process is asked.
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report");
    let status = this_program()
        .unwrap()
        .args(["--exact", "play_outcomes", "--ignored"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .env("FIREARROW_TEST_REPORT", &report)
        .env(PLAY, "outcomes")
        .env("FIREARROW_ENGINE5", folder.path())
        .env_remove("FIREARROW_TEST_FIREBIRD5")
        .status()
        .unwrap();
    assert!(status.success());
    let report = std::fs::read_to_string(report).unwrap();
    assert!(
        report.contains(r#""target":"embedded_5_0","server":"Embedded 5.0","outcome":"skipped","reason":"#),
        "{report}"
    );
    // A host has the server that was hidden from the process.
    let outcome = if has_host() && shared(Generation::V5_0).is_ok() { "ran" } else { "skipped" };
    assert!(report.contains(r#""target":"firebird_5_0","server":"Firebird 5.0"#), "{report}");
    assert!(report.lines().any(|line| line.contains("firebird_5_0") && line.contains(outcome)), "{report}");
    if let Some(server) = servers().first() {
        let name = format!(r#""server":"Firebird {}","outcome""#, server.version());
        assert!(report.contains(&format!(r#"{name}:"ran"}}"#)), "{report}");
        assert!(report.contains(&format!(r#"{name}:"failed"}}"#)), "{report}");
    }
}

#[test]
#[ignore = "a part of another test"]
fn play_outcomes() {
    if std::env::var(PLAY).as_deref() == Ok("outcomes") {
        run(platform::embedded_5_0(), "absent", |_| unreachable::<()>());
        run(platform::firebird_5_0(), "absent", |_| assert!(has_host(), "the platform is absent"));
        run(platform::firebird_3_0(), "passing", |_| ());
        let _ = std::panic::catch_unwind(|| run(platform::firebird_3_0(), "failing", |_| Err("it fails")));
    }
}

/// Whether servers run at a host, see `examples/host.rs`.
fn has_host() -> bool {
    std::env::var_os(Host::VARIABLE).is_some()
}

fn unreachable<T>() -> T {
    panic!("the platform is absent")
}

const PLAY: &str = "FIREARROW_TESTKIT_PLAY";
const QUERY_VERSION: &str = "SELECT RDB$GET_CONTEXT('SYSTEM', 'ENGINE_VERSION') FROM RDB$DATABASE;";
const QUERY_METHOD: &str =
    "SELECT MON$AUTH_METHOD FROM MON$ATTACHMENTS WHERE MON$ATTACHMENT_ID = CURRENT_CONNECTION;";
