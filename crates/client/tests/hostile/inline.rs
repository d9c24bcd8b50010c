//! BLOBs that come with rows, or in place of them.

use crate::memory::peak;
use crate::{attack, read};
use firearrow_proto::wire::Op;
use firearrow_testkit::scripted::packet;

/// Contents of 0 or 1 byte take no room, but what is kept of them does.
#[test]
fn empty_ones_find_no_more_room_than_others() {
    const MANY: u64 = 1_000_000;
    for contents in [&[][..], &[7]] {
        let (server, connection) = attack(19, "", move |request, peer| match request.op {
            Op::FETCH => {
                let transaction = peer.transaction();
                for first in (1..MANY).step_by(1000) {
                    let blobs: Vec<u8> = (first..first + 1000)
                        .flat_map(|id| packet::inline_blob(transaction, id, contents))
                        .collect();
                    peer.says(&blobs)?;
                }
                peer.says(&packet::fetch_end(true))
            }
            _ => peer.behaves(request),
        });
        let (bytes, (rows, result)) = peak(|| read(connection.query("SELECT n FROM t").expect("it runs")));
        result.expect("what finds no room is dropped");
        assert_eq!(rows, 0);
        assert!(server.sent() > 28 * MANY, "{} bytes", server.sent());
        assert!(bytes < 20 << 20, "{bytes} bytes for {MANY} of {}", contents.len());
    }
}
