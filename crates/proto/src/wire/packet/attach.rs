//! Attaching to a database and leaving it.

use super::{Answer, Request};
use crate::wire::op::Op;
use crate::wire::version::ProtocolVersion;
use crate::wire::xdr::Writer;

/// `op_attach`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attach<'a> {
    /// Path or alias on the server.
    pub database: &'a str,
    /// Database parameter buffer.
    pub dpb: &'a [u8],
}

/// `op_create`: creates the database and attaches to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Create<'a>(pub Attach<'a>);

impl Request for Attach<'_> {
    const OP: Op = Op::ATTACH;

    fn encode(&self, _: ProtocolVersion, out: &mut Writer<'_>) {
        out.short(0);
        out.cstr(self.database.as_bytes());
        out.cstr(self.dpb);
    }
}

impl Request for Create<'_> {
    const OP: Op = Op::CREATE;

    fn encode(&self, version: ProtocolVersion, out: &mut Writer<'_>) {
        self.0.encode(version, out);
    }
}

macro_rules! plain {
    ($($(#[$doc:meta])* $name:ident = $op:ident, $object:literal, $answer:ident);* $(;)?) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name;

        impl Request for $name {
            const OP: Op = Op::$op;

            fn encode(&self, _: ProtocolVersion, out: &mut Writer<'_>) {
                if $object {
                    out.short(0);
                }
            }

            fn answer(&self) -> Answer {
                Answer::$answer
            }
        }
    )* };
}

plain! {
    /// `op_detach`. End all transactions first.
    Detach = DETACH, true, Response;
    /// `op_drop_database`.
    DropDatabase = DROP_DATABASE, true, Response;
    /// `op_ping`: a cheap check that also flushes deferred answers.
    Ping = PING, false, Response;
    /// `op_dummy`: a keep-alive without an answer.
    Dummy = DUMMY, false, None;
    /// `op_disconnect`: the last packet.
    Disconnect = DISCONNECT, false, None;
}

/// `op_cancel`: about interrupting the request that the server is working on; no answer of its own. Servers act on it at
/// once only when it arrives by itself, with no other request waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cancel {
    /// `fb_cancel_disable`: from here on nothing is interrupted, and a raise that nothing has noticed is forgotten.
    Disable,
    /// `fb_cancel_enable`: interrupting is allowed again.
    Enable,
    /// `fb_cancel_raise`: interrupts. Where nothing runs, the next request is interrupted.
    Raise,
}

impl Request for Cancel {
    const OP: Op = Op::CANCEL;

    fn encode(&self, _: ProtocolVersion, out: &mut Writer<'_>) {
        out.short(match self {
            Self::Disable => 1,
            Self::Enable => 2,
            Self::Raise => 3,
        });
    }

    fn answer(&self) -> Answer {
        Answer::None
    }
}
