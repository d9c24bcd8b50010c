//! Room for a database before it is filled: a disk that is full stops whatever else uses it.

use crate::scale::{DISTRICTS, Scale};
use firearrow::config::Config;
use firearrow_bench::text::size;
use firearrow_bench::{Error, Result, disk};

/// Bytes of a warehouse with TPC-C's numbers, and of the items.
const WAREHOUSE: u128 = 107_000_000;
const ITEMS: u128 = 12_000_000;
/// An empty database, and what its indexes take while they are sorted.
const OVERHEAD: u128 = 8_000_000;

/// Bytes that a database of this size takes.
pub(crate) fn bytes(scale: Scale) -> u64 {
    let customers = u128::from(scale.warehouses) * u128::from(DISTRICTS) * u128::from(scale.customers);
    let stock = u128::from(scale.warehouses) * u128::from(scale.items);
    // Half of a warehouse belongs to its 30,000 customers and their orders, the rest to its stock of 100,000.
    let warehouses = WAREHOUSE / 2 * customers / 30_000 + WAREHOUSE / 2 * stock / 100_000;
    let all = OVERHEAD + ITEMS * u128::from(scale.items) / 100_000 + warehouses;
    u64::try_from(all).unwrap_or(u64::MAX)
}

/// Refuses to load what the file system of the database has no room for, if that can be known: the server must run on this machine,
/// and the database be named by its path. `existing` bytes of the database will be used again.
///
/// # Errors
/// With what is needed and what there is.
pub(crate) fn check(config: &Config, scale: Scale, existing: u64) -> Result<()> {
    let Some(free) = disk::free(config) else { return Ok(()) };
    let needed = bytes(scale).saturating_sub(existing);
    match needed <= free {
        true => Ok(()),
        false => Err(Error::other(format!(
            "{} warehouses need about {}, and the file system of the database has {} left: load fewer, or make room",
            scale.warehouses,
            size(needed),
            size(free)
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warehouse_takes_what_was_measured() {
        let of = |warehouses| bytes(Scale::of(warehouses)) as f64 / 1e6;
        assert!((119.0..135.0).contains(&of(1)), "{}", of(1));
        assert!((2130.0..2180.0).contains(&of(20)), "{}", of(20));
        assert!(bytes(Scale::tiny(1)) < 11_000_000);
    }

    #[test]
    fn what_there_is_no_room_for_is_refused() {
        let folder = std::env::temp_dir();
        let config = Config::parse(&folder.join("none.fdb").display().to_string()).unwrap();
        assert!(check(&config, Scale::tiny(1), 0).is_ok());
        let error = check(&config, Scale::of(1_000_000_000), 0).unwrap_err().to_string();
        assert!(error.contains("1000000000 warehouses need about") && error.contains("left"), "{error}");
        assert!(check(&config, Scale::of(1_000_000_000), u64::MAX).is_ok());
        // Nothing is known of other machines.
        let far = Config::parse("firebird://u:p@192.0.2.1//data/x.fdb").unwrap();
        assert!(check(&far, Scale::of(1_000_000_000), 0).is_ok());
    }
}
