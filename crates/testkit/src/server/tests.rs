//! Servers at a host, which is another part of this process here.

use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use super::*;
use crate::message::{self, Refusal};
use crate::{Host, HostAddress};

fn installed() -> impl Iterator<Item = Server> {
    let host = Host::start().unwrap().address();
    let start =
        move |generation| unless_missing(Server::launch_at(host, generation, &ServerConfig::default()));
    Generation::ALL.into_iter().filter_map(move |generation| start(generation).ok())
}

fn wait_until(what: &str, is_true: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !is_true() {
        assert!(Instant::now() < deadline, "{what}");
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_server_at_a_host_does_what_a_server_here_does() {
    for server in installed() {
        assert!(server.version().starts_with(server.generation().number()), "{server:?}");
        let path = server.fresh_database_path();
        server.create_database(&path).unwrap();
        server.isql(&path, "CREATE TABLE WORDS (WORD VARCHAR(9)); INSERT INTO WORDS VALUES ('é');").unwrap();
        let copy = server.database_path("copy");
        server.copy_database(&path, &copy).unwrap();
        assert!(server.isql(&copy, "SELECT WORD FROM WORDS;").unwrap().contains('é'));
        let who = "SELECT CURRENT_USER FROM RDB$DATABASE;";
        let said = server.isql_as(Server::LEGACY_USER, Server::LEGACY_PASSWORD, &copy, who).unwrap();
        assert!(said.contains(Server::LEGACY_USER), "{said}");
        let error = server.isql(&copy, "SELECT * FROM NOWHERE;").unwrap_err().to_string();
        assert!(error.contains("NOWHERE"), "{error}");
        server.copy_database(&server.database_path("nowhere"), &copy).unwrap_err();
        server.mend(&copy).unwrap();
        assert!(server.works());
        assert!(server.autopsy().contains(&format!("process {} has", server.process_id())));
    }
}

#[test]
fn a_server_at_a_host_is_killed_and_starts_again() {
    for mut server in installed() {
        let first = server.process_id();
        let path = server.fresh_database_path();
        server.create_database(&path).unwrap();
        server.kill();
        server.kill();
        assert!(!system::is_running(first) && !server.works());
        server.restart().unwrap();
        assert_ne!(server.process_id(), first);
        assert!(system::is_running(server.process_id()));
        server.isql(&path, "SELECT 1 FROM RDB$DATABASE;").unwrap();
    }
}

#[test]
fn a_dropped_server_at_a_host_leaves_nothing() {
    for server in installed() {
        let (id, root) = (server.process_id(), server.root().to_owned());
        assert!(root.is_dir());
        drop(server);
        assert!(!system::is_running(id) && !root.exists());
    }
}

/// So it is when a test program is killed.
#[test]
fn a_server_ends_when_its_connection_closes() {
    let host = Host::start().unwrap().address();
    for generation in Generation::ALL {
        let settings = ServerConfig::default().fields();
        let secret = host.secret();
        let mut request = vec![secret.as_str(), "start", generation.number()];
        request.extend(settings.iter().map(String::as_str));
        let mut stream = TcpStream::connect(host.socket).unwrap();
        message::write(&mut stream, &request).unwrap();
        let facts = match message::read_answer(&mut stream) {
            Ok(facts) => facts,
            Err(Refusal::Launch(Failure::Missing(skip))) => {
                eprintln!("SKIP {skip}");
                continue;
            }
            Err(refusal) => panic!("{refusal:?}"),
        };
        let (id, root) = (facts[3].parse().unwrap(), PathBuf::from(&facts[4]));
        assert!(remote::is_running(host, id) && root.is_dir());
        drop(stream);
        wait_until("the server goes on", || !remote::is_running(host, id));
        wait_until("its folder stays", || !root.exists());
    }
}

#[test]
fn requests_do_not_wait_for_each_other() {
    let Some(server) = installed().next() else { return };
    let path = server.fresh_database_path();
    server.create_database(&path).unwrap();
    server.isql(&path, "CREATE TABLE T (N INT);").unwrap();
    thread::scope(|scope| {
        let slow = scope.spawn(|| {
            let sleep = "SET TERM ^; EXECUTE BLOCK AS DECLARE N BIGINT = 0; BEGIN WHILE (N < 3000000) DO N = N + 1; END^";
            server.isql(&path, sleep).map(|_| Instant::now())
        });
        server.log();
        let quick = Instant::now();
        assert!(slow.join().unwrap().unwrap() > quick);
    });
}

#[test]
fn a_generation_that_the_host_lacks_is_the_same_skip() {
    let host = Host::start().unwrap().address();
    for generation in Generation::ALL {
        let config = ServerConfig::default();
        let here = unless_missing(Server::launch_here(generation, &config)).err();
        let there = unless_missing(Server::launch_at(host, generation, &config)).err();
        assert_eq!(here, there);
    }
    let skip = Skip::new(Generation::V5_0, "not on this machine");
    let host = answering(Err(Refusal::Launch(Failure::Missing(skip.clone()))));
    let missing = Server::launch_at(host, Generation::V5_0, &ServerConfig::default());
    assert_eq!(unless_missing(missing).err(), Some(skip));
}

#[test]
fn a_server_that_does_not_start_comes_with_its_log() {
    let host = Host::start().unwrap().address();
    let config = ServerConfig { extra: vec!["include nowhere.conf".into()], ..ServerConfig::default() };
    for generation in Generation::ALL {
        match Server::launch_at(host, generation, &config) {
            Err(Failure::Broken(text)) => assert!(text.contains("does not start"), "{text}"),
            Err(Failure::Missing(_)) => {}
            Ok(server) => panic!("{server:?}"),
        }
    }
}

#[test]
fn what_a_host_does_not_know_is_an_error() {
    let host = Host::start().unwrap().address();
    for request in [&["start", "2.5"][..], &["log", "77"], &["dance", "1"], &["is running", "x"], &["x"], &[]]
    {
        let mut stream = TcpStream::connect(host.socket).unwrap();
        message::write(&mut stream, &[&[host.secret().as_str()], request].concat()).unwrap();
        let answer = message::read_answer(&mut stream);
        assert!(matches!(&answer, Err(Refusal::Failed(_))), "{request:?}: {answer:?}");
    }
}

#[test]
fn strangers_get_no_answer() {
    let host = Host::start().unwrap().address();
    for request in [&["is running", "1"][..], &["0", "is running", "1"], &[]] {
        let mut stream = TcpStream::connect(host.socket).unwrap();
        message::write(&mut stream, request).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        assert!(matches!(message::read(&mut stream), Ok(None)), "{request:?}");
    }
}

#[test]
fn a_host_that_has_gone_or_talks_nonsense_is_an_error() {
    let gone =
        TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().map(HostAddress::fresh).unwrap();
    for host in [gone, answering(Ok(Vec::new()))] {
        let result = Server::launch_at(host, Generation::V3_0, &ServerConfig::default());
        assert!(
            matches!(&result, Err(Failure::Broken(text)) if text.contains(&format!("{host:?}"))),
            "{result:?}"
        );
    }
}

/// A host that gives one answer.
fn answering(answer: message::Answer) -> HostAddress {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        message::read(&mut stream).unwrap();
        message::write_answer(&mut stream, &answer).unwrap();
    });
    HostAddress::fresh(address)
}
