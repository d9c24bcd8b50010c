//! Events.

use crate::event_cases::{self, LIMIT, QUIET, gather, pair, post};
use crate::support::{at, config, fresh, fresh_closed, query};
use firearrow::{Config, Connection, Kind};
use firearrow_testkit::{Behaviour, Proxy, Server, ServerConfig, Target, matrix};
use socket2::{Domain, Socket, Type};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

/// Runs for a long time.
const ENDLESS: &str =
    "SELECT COUNT(*) FROM RDB$FIELDS a, RDB$FIELDS b, RDB$FIELDS c, RDB$FIELDS d, RDB$FIELDS e";

fn works(connection: &Connection) {
    assert_eq!(query(connection, "SELECT 1 FROM RDB$DATABASE").num_rows(), 1);
}

matrix!(
    all,
    fn postings_are_counted(target: &Target) {
        event_cases::postings_are_counted(target);
    },
    fn nothing_is_lost_between_questions(target: &Target) {
        event_cases::nothing_is_lost_between_questions(target);
    },
    fn waiting_has_an_end(target: &Target) {
        let connection = fresh(target);
        let listener = connection.events(&["never"]).expect("it listens");
        for time in [0, 1, 150] {
            let time = Duration::from_millis(time);
            let begin = Instant::now();
            assert_eq!(listener.wait(time).expect("alive"), None);
            assert!(begin.elapsed() >= time && begin.elapsed() < Duration::from_secs(10));
        }
    },
    fn listeners_of_a_connection_do_not_disturb_each_other(target: &Target) {
        let (listening, posting) = pair(target);
        let first = listening.events(&["a", "b"]).expect("it listens");
        post(&posting, &["a"]);
        let second = listening.events(&["b", "a", "c"]).expect("it listens");
        post(&posting, &["a", "b", "c"]);
        let third = listening.events(&["c"]).expect("it listens");
        assert_eq!(gather(&first, 3).into_values().collect::<Vec<_>>(), [2, 1]);
        assert_eq!(gather(&second, 3).into_values().collect::<Vec<_>>(), [1, 1, 1]);
        assert_eq!(third.wait(QUIET).expect("alive"), None);
        drop(second);
        for _ in 0..3 {
            post(&posting, &["b", "c"]);
        }
        assert_eq!(gather(&first, 3).into_values().collect::<Vec<_>>(), [3]);
        assert_eq!(gather(&third, 3).into_values().collect::<Vec<_>>(), [3]);
        works(&listening);
    },
    fn the_connection_can_be_used_while_somebody_waits(target: &Target) {
        let connection = fresh(target);
        let listener = connection.events(&["a"]).expect("it listens");
        thread::scope(|scope| {
            let waiting = scope.spawn(|| listener.wait(LIMIT));
            let begin = Instant::now();
            for _ in 0..50 {
                works(&connection);
            }
            assert!(begin.elapsed() < Duration::from_secs(10));
            assert!(!waiting.is_finished());
            post(&connection, &["a"]);
            let report = waiting.join().expect("no panic").expect("alive").expect("it was posted");
            assert_eq!(report.get("a"), 1);
        });
    },
    fn a_busy_connection_does_not_hold_up_a_wait(target: &Target) {
        let (listening, posting) = pair(target);
        let listener = listening.events(&["a"]).expect("it listens");
        let cancel = listening.cancel_handle();
        thread::scope(|scope| {
            let running = scope.spawn(|| listening.query(ENDLESS).and_then(|mut cursor| cursor.next_batch()));
            thread::sleep(Duration::from_millis(200));
            // It has not asked yet, and cannot now.
            let begin = Instant::now();
            assert_eq!(listener.wait(QUIET).expect("alive"), None);
            assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
            post(&posting, &["a", "a"]);
            cancel.cancel();
            let error = running.join().expect("no panic").expect_err("it was cancelled");
            assert_eq!(error.kind(), Kind::Cancelled, "{error}");
        });
        assert_eq!(gather(&listener, 2).into_values().collect::<Vec<_>>(), [2]);
    },
    fn closing_wakes_who_waits(target: &Target) {
        let connection = fresh(target);
        let listener = connection.events(&["a", "b"]).expect("it listens");
        thread::scope(|scope| {
            let waiting = [(); 2].map(|()| scope.spawn(|| listener.wait(LIMIT)));
            let reports = scope.spawn(|| listener.iter().count());
            thread::sleep(Duration::from_millis(200));
            let begin = Instant::now();
            listener.close().expect("the connection is alive");
            for waiting in waiting {
                let error = waiting.join().expect("no panic").expect_err("it was closed");
                assert_eq!(error.kind(), Kind::Closed, "{error}");
            }
            assert_eq!(reports.join().expect("no panic"), 0);
            assert!(begin.elapsed() < Duration::from_secs(5));
        });
        assert_eq!(listener.wait(QUIET).expect_err("it is closed").kind(), Kind::Closed);
        listener.close().expect("twice is as good");
        drop(listener);
        works(&connection);
        let again = connection.events(&["a"]).expect("it listens");
        post(&connection, &["a"]);
        assert_eq!(again.iter().next().expect("a report").expect("alive").get("a"), 1);
    },
    fn listeners_keep_their_connection(target: &Target) {
        let (listening, posting) = pair(target);
        let listener = listening.events(&["a"]).expect("it listens");
        assert_eq!(listening.close().expect_err("it listens").kind(), Kind::Misuse);
        post(&posting, &["a"]);
        assert_eq!(gather(&listener, 1).into_values().collect::<Vec<_>>(), [1]);
    },
    fn names_are_taken_as_they_are(target: &Target) {
        let (listening, posting) = pair(target);
        let longest = "n".repeat(255);
        let names = ["two words", "Case", "gr\u{fc}n", "blanks  ", "blanks", &longest, "case"];
        let listener = listening.events(&names).expect("it listens");
        let known = ["two words", "Case", "gr\u{fc}n", "blanks", &longest, "case"];
        assert!(listener.names().eq(known));
        post(&posting, &known);
        let gathered = gather(&listener, 6);
        assert!(known.iter().all(|name| gathered[*name] == 1), "{gathered:?}");
        let too_long = "\u{fc}".repeat(128);
        for names in [&[][..], &[""], &["  "], &["a", &too_long]] {
            let error = listening.events(names).expect_err("wrong names");
            assert_eq!(error.kind(), Kind::Parameter, "{error}");
        }
        works(&listening);
    },
    fn names_are_bounded_by_a_request(target: &Target) {
        let (listening, posting) = pair(target);
        // 5 bytes and 20 for each name, and one.
        let names: Vec<String> = (0..2622).map(|n| format!("{n:020}")).collect();
        let all: Vec<&str> = names.iter().map(String::as_str).collect();
        let error = listening.events(&all).expect_err("65551 bytes");
        assert_eq!(error.kind(), Kind::Parameter, "{error}");
        let listener = listening.events(&all[..2621]).expect("65526 bytes");
        post(&posting, &[all[0], all[1000], all[2620], all[2620]]);
        let gathered = gather(&listener, 4);
        assert_eq!((gathered[all[0]], gathered[all[1000]], gathered[all[2620]]), (1, 1, 2));
    }
);

/// A server whose port for events is known, and a database of it.
fn with_fixed_port(target: &Target) -> (Server, u16, Config) {
    let free = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = free.local_addr().expect("an address").port();
    drop(free);
    let settings = ServerConfig { extra: vec![format!("RemoteAuxPort = {port}")], ..ServerConfig::default() };
    let server = Server::start_with(target.generation(), &settings).expect("it is installed");
    let path = server.fresh_database_path();
    let config = config(target, &server.url_at(server.address(), &path));
    Connection::create(&config).expect("a fresh database").close().expect("nothing is open");
    (server, port, config)
}

fn proxy(port: u16, behaviour: Behaviour) -> Proxy {
    Proxy::start(([127, 0, 0, 1], port).into(), behaviour).expect("a proxy")
}

matrix!(
    wire,
    fn questions_take_one_round_trip(target: &Target) {
        let connection = fresh(target);
        let trips = |expected: u64, work: &mut dyn FnMut()| {
            let before = connection.wire_stats().round_trips;
            work();
            assert_eq!(connection.wire_stats().round_trips - before, expected);
        };
        let mut first = None;
        trips(2, &mut || first = connection.events(&["a"]).ok());
        let listener = first.expect("it listens");
        trips(1, &mut || drop(connection.events(&["b"]).expect("it listens")));
        trips(1, &mut || assert_eq!(listener.wait(QUIET).expect("alive"), None));
        trips(0, &mut || assert_eq!(listener.wait(QUIET).expect("alive"), None));
        post(&connection, &["a"]);
        trips(0, &mut || assert!(listener.wait(LIMIT).expect("alive").is_some()));
    },
    fn the_second_connection_may_go_another_way(target: &Target) {
        let (_server, port, mut config) = with_fixed_port(target);
        let posting = Connection::open(&config).expect("it opens");
        for host in [None, Some("localhost".to_owned())] {
            let proxy = proxy(port, Behaviour::split(3));
            config.event_host = host;
            config.event_port = Some(proxy.port());
            let listening = Connection::open(&config).expect("it opens");
            let listener = listening.events(&["a"]).expect("it listens");
            let second = listening.events(&["a"]).expect("it listens");
            for _ in 0..5 {
                post(&posting, &["a", "a"]);
            }
            assert_eq!(gather(&listener, 10).into_values().collect::<Vec<_>>(), [10]);
            assert_eq!(gather(&second, 10).into_values().collect::<Vec<_>>(), [10]);
            assert_eq!(proxy.connections(), 1);
        }
        // Without them it takes the port that the server names.
        (config.event_host, config.event_port) = (None, None);
        let listening = Connection::open(&config).expect("it opens");
        let listener = listening.events(&["a"]).expect("it listens");
        post(&posting, &["a"]);
        assert_eq!(gather(&listener, 1).into_values().collect::<Vec<_>>(), [1]);
    },
    fn a_way_that_is_closed_harms_nothing(target: &Target) {
        let mut config = fresh_closed(target);
        // Taken, so that nobody else gets it, but nobody listens.
        let nobody = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
        nobody.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into()).expect("a free port");
        let address = nobody.local_addr().ok().and_then(|address| address.as_socket());
        config.event_port = address.map(|address| address.port());
        let connection = Connection::open(&config).expect("it opens");
        for _ in 0..3 {
            let begin = Instant::now();
            let error = connection.events(&["a"]).expect_err("nobody is there");
            assert_eq!(error.kind(), Kind::Unreachable, "{error}");
            assert!(error.message().contains("RemoteAuxPort"), "{error}");
            works(&connection);
            assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
        }
        connection.close().expect("nothing is left");
    },
    fn a_lost_second_connection_is_told_and_made_again(target: &Target) {
        let (_server, port, mut config) = with_fixed_port(target);
        let posting = Connection::open(&config).expect("it opens");
        let proxy = proxy(port, Behaviour::pass());
        config.event_port = Some(proxy.port());
        let listening = Connection::open(&config).expect("it opens");
        for round in 1..=3 {
            let listener = listening.events(&["a"]).expect("it listens");
            post(&posting, &["a"]);
            assert!(listener.wait(LIMIT).expect("it is posted").is_some());
            // It asks anew, and nothing is under way: what is, is at risk; see docs/protocol/events.md.
            assert_eq!(listener.wait(QUIET).expect("alive"), None);
            proxy.cut();
            let error = listener.wait(LIMIT).expect_err("the connection is cut");
            assert_eq!(error.kind(), Kind::Closed, "{error}");
            assert_eq!(listener.wait(QUIET).expect_err("it stays so").kind(), Kind::Closed);
            assert_eq!(listener.iter().filter(|report| report.is_err()).count(), 1);
            works(&listening);
            assert_eq!(proxy.connections(), round);
        }
    },
    fn a_lost_first_connection_is_told(target: &Target) {
        let original = fresh_closed(target);
        let proxy = Proxy::start(target.server().address(), Behaviour::pass()).expect("a proxy");
        let config = at(target, &original, proxy.address(), "");
        let listening = Connection::open(&config).expect("it opens");
        let listener = listening.events(&["a"]).expect("it listens");
        assert_eq!(listener.wait(Duration::from_millis(50)).expect("alive"), None);
        thread::scope(|scope| {
            let waiting = scope.spawn(|| listener.wait(LIMIT));
            thread::sleep(Duration::from_millis(100));
            drop(proxy);
            let error = waiting.join().expect("no panic").expect_err("the server has closed both");
            assert_eq!(error.kind(), Kind::Closed, "{error}");
        });
    },
    fn a_server_that_ends_is_told(target: &Target) {
        let (server, _, config) = with_fixed_port(target);
        let listening = Connection::open(&config).expect("it opens");
        let (first, second) =
            (listening.events(&["a"]).expect("it listens"), listening.events(&["b"]).expect("it listens"));
        assert_eq!(first.wait(Duration::from_millis(50)).expect("alive"), None);
        thread::scope(|scope| {
            let waiting = scope.spawn(|| first.wait(LIMIT));
            let reports = scope.spawn(|| second.iter().collect::<Vec<_>>());
            thread::sleep(Duration::from_millis(200));
            let begin = Instant::now();
            drop(server);
            let error = waiting.join().expect("no panic").expect_err("the server is gone");
            assert_eq!(error.kind(), Kind::Closed, "{error}");
            let reports = reports.join().expect("no panic");
            assert!(matches!(&reports[..], [Err(error)] if error.kind() == Kind::Closed), "{reports:?}");
            assert!(begin.elapsed() < Duration::from_secs(20));
        });
    },
    fn garbage_on_the_second_connection_is_refused(target: &Target) {
        let (server, port, mut config) = with_fixed_port(target);
        // Both the server and we are connected to somebody in the middle, who writes nonsense to us.
        let middle = TcpListener::bind("127.0.0.1:0").expect("a free port");
        config.event_port = Some(middle.local_addr().expect("an address").port());
        let listening = Connection::open(&config).expect("it opens");
        thread::scope(|scope| {
            let work = scope.spawn(|| {
                let (mut client, _) = middle.accept().expect("a client");
                let server = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
                std::io::Write::write_all(&mut client, &[0, 0, 0, 52, 0, 0, 0, 0, 0x7f, 0, 0, 0])
                    .expect("it reads");
                (client, server)
            });
            let error = listening.events(&["a"]).expect_err("nonsense");
            assert_eq!(error.kind(), Kind::Protocol, "{error}");
            // A server that loses this connection writes to the other one, perhaps into the middle of an answer.
            let _open = work.join().expect("no panic");
            works(&listening);
        });
        drop(server);
    }
);

// A listener that says nothing is no Firebird of any release.
matrix!(
    [firebird_4_0],
    fn a_way_to_somebody_else_ends_the_connection(target: &Target) {
        let mut config = fresh_closed(target);
        let stranger = TcpListener::bind("127.0.0.1:0").expect("a free port");
        config.event_port = Some(stranger.local_addr().expect("an address").port());
        config.connect_timeout = Duration::from_millis(700);
        let connection = Connection::open(&config).expect("it opens");
        let begin = Instant::now();
        let error = connection.events(&["a"]).expect_err("it is not the server");
        assert_eq!(error.kind(), Kind::Timeout, "{error}");
        assert!(error.message().contains("does not seem to reach the server"), "{error}");
        assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
        assert!(connection.is_failed());
    }
);
