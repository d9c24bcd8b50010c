//! The whole client against a server that lies: what it sends beyond what was asked for, declared or allowed must cost
//! neither memory nor the process.

mod answers;
mod arrays;
mod blobs;
mod inline;
mod memory;
mod rows;

use firearrow::{Config, Connection, Cursor, Error};
use firearrow_testkit::scripted::{Peer, Request, ScriptedServer};
use std::io;
use std::time::Duration;

/// A server with this script, and a client of it with these options.
fn attack<F>(protocol: u16, options: &str, script: F) -> (ScriptedServer, Connection)
where
    F: Fn(&Request, &mut Peer) -> io::Result<()> + Send + Sync + 'static,
{
    let server = ScriptedServer::start(protocol, script).expect("a free port");
    let mut config = Config::parse(&format!("{}?{options}", server.url())).expect("a valid URL");
    // No test may hang.
    config.read_timeout = Some(Duration::from_secs(20));
    let connection = Connection::open(&config).expect("it attaches");
    (server, connection)
}

/// Reads to the end; the number of rows before it, and what ended it.
fn read(mut cursor: Cursor) -> (usize, Result<(), Error>) {
    let mut rows = 0;
    loop {
        match cursor.next_batch() {
            Ok(Some(batch)) => rows += batch.num_rows(),
            Ok(None) => return (rows, Ok(())),
            Err(error) => return (rows, Err(error)),
        }
    }
}

/// A packed row: which columns are NULL, then the values of the others.
fn packed(nulls: u8, values: &[&[u8]]) -> Vec<u8> {
    let mut row = vec![nulls, 0, 0, 0];
    values.iter().for_each(|value| row.extend_from_slice(value));
    row
}

/// A VARYING as it is packed.
fn varying(text: &[u8]) -> Vec<u8> {
    let mut value = (text.len() as u32).to_be_bytes().to_vec();
    value.extend_from_slice(text);
    value.resize(value.len().next_multiple_of(4), 0);
    value
}

#[test]
fn a_server_that_behaves_is_served() {
    let (server, connection) = attack(13, "", |request, peer| peer.behaves(request));
    let (rows, result) = read(connection.query("SELECT n FROM t").expect("it runs"));
    assert_eq!((rows, result.map_err(|error| error.to_string())), (0, Ok(())));
    connection.ping().expect("it answers");
    connection.close().expect("it lets go");
    assert!(server.requests() > 5, "{} requests", server.requests());
}
