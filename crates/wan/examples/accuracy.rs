//! Measures the emulator itself: `accuracy [RTT in ms] [RATE in Mbit/s]`, 12.5 and 71 by default.

use firearrow_wan::{Link, WanProxy};
use std::error::Error;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default: f64| arguments.next().map_or(Ok(default), |text| text.parse());
    let (milliseconds, megabits): (f64, f64) = (number(12.5)?, number(71.0)?);
    let link = Link::new(Duration::from_secs_f64(milliseconds / 1e3), Some((megabits * 1e6) as u64));
    println!("wanted: {milliseconds} ms, {megabits} Mbit/s");

    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let listener = TcpListener::bind(any)?;
    let proxy = WanProxy::start(any, listener.local_addr()?.to_string(), link)?;
    let connect = |address: SocketAddr| -> io::Result<TcpStream> {
        let client = TcpStream::connect(address)?;
        let (mut server, _) = listener.accept()?;
        [&client, &server].into_iter().try_for_each(|socket| socket.set_nodelay(true))?;
        thread::spawn(move || serve(&mut server));
        Ok(client)
    };
    // With pauses, so that threads have to be woken, as they have to be through the proxy.
    round_trips("without", &mut connect(listener.local_addr()?)?, link.round_trip)?;
    let mut client = connect(proxy.address())?;
    round_trips("through", &mut client, Duration::ZERO)?;
    for request in [DOWN, UP] {
        transfers(&mut client, request, megabits * 1e6 / 8.0)?;
    }
    Ok(())
}

/// Answers a ping with a byte, sends bytes, or discards bytes and then answers.
fn serve(socket: &mut TcpStream) -> io::Result<()> {
    let mut request = [0; 9];
    while socket.read_exact(&mut request).is_ok() {
        let size = u64::from_le_bytes(request[1..].try_into().unwrap_or_default());
        match request[0] {
            DOWN => drop(io::copy(&mut io::repeat(1).take(size), socket)?),
            UP => drop(io::copy(&mut (&*socket).take(size), &mut io::sink())?),
            _ => {}
        }
        socket.write_all(&[0])?;
    }
    Ok(())
}

fn round_trips(name: &str, client: &mut TcpStream, pause: Duration) -> io::Result<()> {
    let cpu = cpu();
    let begin = Instant::now();
    let mut times = Vec::new();
    for _ in 0..ROUND_TRIPS {
        thread::sleep(pause);
        let begin = Instant::now();
        ask(client, PING, 0)?;
        client.read_exact(&mut [0])?;
        times.push(begin.elapsed().as_secs_f64() * 1e3);
    }
    let share = (self::cpu() - cpu) / begin.elapsed().as_secs_f64();
    times.sort_by(f64::total_cmp);
    let mean = times.iter().sum::<f64>() / times.len() as f64;
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    println!(
        "round trip {name}: min {:.3}, median {:.3}, p95 {:.3}, max {:.3}, mean {mean:.3} ms; proxy {:.1} % of a CPU",
        at(0.0),
        at(0.5),
        at(0.95),
        at(1.0),
        share * 100.0,
    );
    Ok(())
}

/// The round trip of the request is part of the time, as it is for a query.
fn transfers(client: &mut TcpStream, request: u8, bytes_per_second: f64) -> io::Result<()> {
    for _ in 0..3 {
        let size = (bytes_per_second * SECONDS) as u64;
        let cpu = cpu();
        let begin = Instant::now();
        ask(client, request, size)?;
        let name = if request == DOWN {
            io::copy(&mut (&*client).take(size), &mut io::sink())?;
            "down"
        } else {
            io::copy(&mut io::repeat(1).take(size), client)?;
            "up"
        };
        client.read_exact(&mut [0])?;
        let took = begin.elapsed().as_secs_f64();
        println!(
            "{name}: {size} bytes in {took:.4} s, {:.3} Mbit/s; proxy {:.1} % of a CPU",
            size as f64 * 8e-6 / took,
            (self::cpu() - cpu) / took * 100.0,
        );
    }
    Ok(())
}

fn ask(client: &mut TcpStream, request: u8, size: u64) -> io::Result<()> {
    let mut message = [request; 9];
    message[1..].copy_from_slice(&size.to_le_bytes());
    client.write_all(&message)
}

/// CPU seconds of the proxy's threads; 0 if the system does not report them.
fn cpu() -> f64 {
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else { return 0.0 };
    let of = |thread: std::fs::DirEntry| {
        let name = std::fs::read_to_string(thread.path().join("comm")).ok()?;
        let statistics = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
        let nanoseconds: f64 = statistics.split(' ').next()?.parse().ok()?;
        name.starts_with("wan-").then_some(nanoseconds / 1e9)
    };
    threads.flatten().filter_map(of).sum()
}

const PING: u8 = 0;
const DOWN: u8 = 1;
const UP: u8 = 2;
const ROUND_TRIPS: usize = 200;
const SECONDS: f64 = 4.0;
