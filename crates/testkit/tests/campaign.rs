//! What a campaign makes of sessions that end badly, with an echo in place of a server.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use firearrow_testkit::{Campaign, Tally, is_emulated, this_program, work};

const MEMORY: u64 = 256 << 20;

/// The worker of the tests below, which start this program again to get it.
#[test]
#[ignore = "a worker, of no use by itself"]
fn worker() {
    if std::env::var_os("CAMPAIGN_WORKER").is_none() {
        return;
    }
    work(|seed, port| match seed {
        0 => panic!("on purpose"),
        1 => std::process::abort(),
        2 => loop {
            thread::sleep(Duration::from_secs(1));
        },
        3 => format!("{} bytes", vec![1_u8; 2 * MEMORY as usize].len()),
        4 => {
            let thread = thread::spawn(|| panic!("elsewhere"));
            format!("{}", thread.join().is_err())
        }
        _ => echoed(port),
    });
}

/// Sends numbers through the proxy and says whether they come back.
fn echoed(port: u16) -> String {
    let mut client = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
    client.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    let sent: Vec<u8> = (0..20_000_u32).flat_map(|number| (number % 50).to_be_bytes()).collect();
    client.write_all(&sent).unwrap();
    let mut received = Vec::new();
    let mut buffer = vec![0; 64 << 10];
    let deadline = Instant::now() + Duration::from_secs(1);
    while received.len() < sent.len() {
        if Instant::now() > deadline {
            return "silence".into();
        }
        match client.read(&mut buffer) {
            Ok(0) => return "closed".into(),
            Ok(count) => received.extend_from_slice(&buffer[..count]),
            Err(_) => return "silence".into(),
        }
    }
    if received == sent { "the same" } else { "damaged" }.into()
}

fn campaign(seeds: std::ops::Range<u64>, server_process: Option<u32>) -> Campaign {
    Campaign {
        server: echo(),
        server_process,
        seeds,
        parallel: 3,
        limit: Duration::from_secs(5),
        memory: MEMORY,
        hostile_client: false,
        verbose: false,
    }
}

fn run(seeds: std::ops::Range<u64>) -> Tally {
    let tally = campaign(seeds, None).run(|| {
        let mut command = this_program().unwrap();
        command.args(["--ignored", "--exact", "worker", "--nocapture"]).env("CAMPAIGN_WORKER", "1");
        command
    });
    tally.unwrap()
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "the memory of workers has no limit here")]
fn sessions_that_end_badly_are_counted_and_end_nothing_else() {
    if is_emulated() {
        return eprintln!("SKIP sessions that end badly: the limit of memory would be the emulator's");
    }
    let tally = run(0..20);
    assert_eq!(tally.sessions(), 20);
    let failures: Vec<(&str, &[u64])> =
        tally.failures().iter().map(|(text, seeds)| (text.as_str(), seeds.as_slice())).collect();
    let [(hung, [2]), first, second, died] = failures[..] else { panic!("{failures:?}") };
    assert_eq!(hung, "no end in time");
    for ((text, seeds), (expected, seed)) in
        [first, second].into_iter().zip([("on purpose", 0), ("elsewhere", 4)])
    {
        assert!(text.starts_with("panic: ") && text.contains("tests/campaign.rs:"), "{text}");
        assert!(text.contains(expected) && seeds == [seed], "{text}, {seeds:?}");
    }
    // An abort, and the abort of an allocation that failed.
    let (text, seeds) = died;
    assert!(text.starts_with("the process died: signal: 6"), "{text}");
    assert!(seeds.len() == 2 && seeds.iter().all(|seed| [1, 3].contains(seed)), "{seeds:?}");
    assert!(tally.longest().0 >= Duration::from_secs(5) && tally.longest().1 == 2);
    assert!(tally.peak().0 < MEMORY, "{:?}", tally.peak());
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "it needs the program sleep")]
fn a_campaign_ends_with_its_server() {
    let mut server = Command::new("sleep").arg("60").spawn().unwrap();
    server.kill().unwrap();
    server.wait().unwrap();
    let tally = campaign(0..20, Some(server.id())).run(|| unreachable!("nothing to play"));
    assert_eq!(tally.unwrap().sessions(), 0);
}

#[test]
fn a_seed_plays_the_same_session_again() {
    let all = run(100..160);
    assert!(all.failures().is_empty(), "{all}");
    assert!(all.ended("damaged") > 10 && all.ended("silence") > 3, "{all}");
    for seed in [100, 117, 134] {
        let (once, again) = (run(seed..seed + 1), run(seed..seed + 1));
        let labels =
            |tally: &Tally| ["the same", "damaged", "closed", "silence"].map(|label| tally.ended(label));
        assert_eq!(labels(&once), labels(&again), "{seed}");
    }
}

/// A server that sends back what it receives.
fn echo() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            thread::spawn(move || std::io::copy(&mut &socket, &mut &socket));
        }
    });
    address
}
