//! What the article measured: elapsed milliseconds over its link, with client libraries of three releases.
//!
//! "Transferring BLOBs over the wire in Firebird", version 1.0 of 2025-03-16, chapters 4 to 8. Single runs.

use super::query::Query;

/// A client library of the article, in its own words, and whether the wire was compressed.
pub(crate) struct Published {
    pub(crate) client: &'static str,
    pub(crate) compressed: bool,
    /// By query; `None` where it prints nothing.
    milliseconds: [Option<f64>; 6],
}

impl Published {
    pub(crate) fn seconds(&self, query: Query) -> Option<f64> {
        self.milliseconds[query as usize].map(|milliseconds| milliseconds / 1000.0)
    }
}

pub(crate) const PUBLISHED: [Published; 6] = [
    Published {
        client: "published, 5.0.1",
        compressed: false,
        milliseconds: [Some(36544.0), Some(574.0), Some(38256.0), Some(20212.0), Some(19288.0), Some(38.0)],
    },
    Published {
        client: "published, 5.0.1",
        compressed: true,
        milliseconds: [Some(36396.0), Some(489.0), Some(38107.0), Some(15927.0), Some(15752.0), None],
    },
    Published {
        client: "published, 5.0.2",
        compressed: false,
        milliseconds: [Some(12739.0), Some(569.0), Some(17907.0), None, Some(10843.0), Some(26.0)],
    },
    Published {
        client: "published, 5.0.2",
        compressed: true,
        milliseconds: [Some(12693.0), Some(478.0), Some(17044.0), None, Some(9476.0), Some(28.0)],
    },
    Published {
        client: "published, 5.0.3",
        compressed: false,
        milliseconds: [Some(1110.0), Some(554.0), Some(3254.0), None, Some(3678.0), Some(26.0)],
    },
    Published {
        client: "published, 5.0.3",
        compressed: true,
        milliseconds: [Some(157.0), Some(482.0), Some(1365.0), None, Some(1576.0), Some(36.0)],
    },
];
