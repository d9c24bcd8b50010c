//! What databases would show that are too large to be measured here, calculated from what a campaign has measured.
//!
//! An operation touches a number of pages that nobody has touched lately. Of these the cache has as large a share as it has of what is
//! in use: everything, or the warehouses of the terminals. Each page that it does not have costs a read; terminals wait for their reads,
//! and a disk serves only so many at once.

use crate::campaign::Point;
use crate::input::Locality;
use crate::run::Run;

/// A kind of disk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Disk {
    pub(crate) name: &'static str,
    /// Seconds of a read.
    latency_s: f64,
    /// Reads that it serves at once.
    width: f64,
}

pub(crate) const DISKS: [Disk; 2] = [
    Disk { name: "SSD", latency_s: 0.000_1, width: 32.0 },
    Disk { name: "two hard disks", latency_s: 0.008, width: 2.0 },
];

/// Sizes to calculate, in bytes.
pub(crate) const SIZES: [f64; 2] = [100e9, 1e12];

/// What a campaign says of one locality.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Model {
    pub(crate) locality: Locality,
    terminals: f64,
    cache_bytes: f64,
    warehouse_bytes: f64,
    /// Operations per second where reads hardly matter: at the smallest size.
    unhindered: f64,
    /// Pages that an operation touches and nobody has touched lately.
    cold_pages: f64,
}

/// Fewer reads than this for an operation say nothing of how they grow.
const FEWEST_READS: f64 = 0.05;

impl Model {
    /// From the smallest and the largest size; the reason if they do not say enough.
    pub(crate) fn of(points: &[Point], locality: Locality) -> Result<Self, String> {
        let runs = |point: &Point| -> Vec<Run> {
            point.runs.iter().filter(|run| run.locality == locality).cloned().collect()
        };
        let name = locality.name();
        let by_size = |one: &&Point, other: &&Point| one.loaded.bytes.cmp(&other.loaded.bytes);
        let (Some(small), Some(large)) = (points.iter().min_by(by_size), points.iter().max_by(by_size))
        else {
            return Err(format!("{name}: nothing has been measured"));
        };
        let (first, last) = (runs(small), runs(large));
        let mean =
            |runs: &[Run], value: fn(&Run) -> f64| runs.iter().map(value).sum::<f64>() / runs.len() as f64;
        let (Some(one), Some(other)) = (first.first(), last.first()) else {
            return Err(format!("{name}: nothing has been measured"));
        };
        let mut model = Self {
            locality,
            terminals: other.terminals as f64,
            cache_bytes: other.cache_bytes as f64,
            warehouse_bytes: large.loaded.bytes as f64 / f64::from(large.loaded.scale.warehouses),
            unhindered: mean(&first, Run::per_second),
            cold_pages: 0.0,
        };
        let absent = model.absent(other.bytes as f64);
        let reads = mean(&last, Run::reads_per_operation);
        debug_assert_eq!(one.terminals, other.terminals);
        if absent > 0.0 && reads < FEWEST_READS {
            return Err(format!(
                "{name}: the largest size is larger than the cache, but hardly any page was read: the server does not count \
                 reads, or the cache is larger than it says"
            ));
        }
        if absent == 0.0 {
            // At home what is in use may never outgrow the cache; everywhere it does.
            if model.absent(f64::MAX) > 0.0 {
                return Err(format!(
                    "{name}: the largest size fits into the cache, so nothing is known of reads"
                ));
            }
            return Ok(model);
        }
        model.cold_pages = reads / absent;
        Ok(model)
    }

    /// The share of what is in use that the cache does not have.
    fn absent(&self, size: f64) -> f64 {
        let in_use = match self.locality {
            Locality::Home => size.min(self.terminals * self.warehouse_bytes),
            Locality::Uniform => size,
        };
        (1.0 - self.cache_bytes / in_use).max(0.0)
    }

    /// Reads for each operation.
    pub(crate) fn reads(&self, size: f64) -> f64 {
        self.cold_pages * self.absent(size)
    }

    /// Operations per second.
    pub(crate) fn per_second(&self, size: f64, disk: Disk) -> f64 {
        let waiting = self.reads(size) * disk.latency_s;
        let by_terminals = self.terminals / (self.terminals / self.unhindered + waiting);
        let by_disk = if waiting > 0.0 { disk.width / waiting } else { f64::INFINITY };
        by_terminals.min(by_disk)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(locality: Locality) -> Model {
        Model {
            locality,
            terminals: 20.0,
            cache_bytes: 1e9,
            warehouse_bytes: 1e8,
            unhindered: 2000.0,
            cold_pages: 10.0,
        }
    }

    #[test]
    fn what_fits_the_cache_is_not_read() {
        let uniform = model(Locality::Uniform);
        assert_eq!(uniform.reads(5e8), 0.0);
        assert_eq!(uniform.per_second(5e8, DISKS[0]), 2000.0);
        assert_eq!(uniform.reads(2e9), 5.0);
        // At home what is in use stops growing: 20 warehouses of 100 MB.
        assert_eq!(model(Locality::Home).reads(1e12), 5.0);
    }

    #[test]
    fn slower_disks_and_larger_databases_are_slower() {
        let uniform = model(Locality::Uniform);
        let [ssd, disks] = DISKS;
        // 20 terminals: 10 ms each, and 9.9 reads of 0.1 ms.
        assert!((uniform.per_second(1e11, ssd) - 20.0 / 0.010_99).abs() < 1.0);
        // Two hard disks: 250 reads per second, 9.9 for an operation.
        assert!((uniform.per_second(1e11, disks) - 250.0 / 9.9).abs() < 0.1);
        assert!(uniform.per_second(1e12, ssd) < uniform.per_second(1e11, ssd));
    }
}
