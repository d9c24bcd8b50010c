//! How large a database is.

use serde::{Deserialize, Serialize};

/// Numbers of rows. All but [`warehouses`](Self::warehouses) are TPC-C's unless a test wants less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Scale {
    /// Warehouses.
    pub warehouses: u32,
    /// Items, each in stock at every warehouse.
    pub items: u32,
    /// Customers of each district, and as many orders.
    pub customers: u32,
    /// Orders of each district that are not delivered yet, the last ones.
    pub open_orders: u32,
}

/// Districts of each warehouse.
pub const DISTRICTS: u32 = 10;

impl Scale {
    /// TPC-C's numbers: about 107 MB for each warehouse.
    #[must_use]
    pub fn of(warehouses: u32) -> Self {
        Self { warehouses, items: 100_000, customers: 3000, open_orders: 900 }
    }

    /// A hundredth of it, for tests: the same shape, but figures that mean nothing.
    #[must_use]
    pub fn tiny(warehouses: u32) -> Self {
        Self { warehouses, items: 1000, customers: 60, open_orders: 18 }
    }

    /// Whether the numbers of rows are TPC-C's.
    #[must_use]
    pub fn is_full(&self) -> bool {
        *self == Self::of(self.warehouses)
    }

    /// Returns the number of warehouses in words: `1 warehouse`, `2 warehouses`.
    #[must_use]
    pub fn in_words(&self) -> String {
        match self.warehouses {
            1 => "1 warehouse".to_owned(),
            many => format!("{many} warehouses"),
        }
    }

    /// Rows of every table whose number is certain; order lines are 5 to 15 for each order.
    #[must_use]
    pub fn rows(&self) -> [(&'static str, u64); 8] {
        let warehouses = u64::from(self.warehouses);
        let districts = warehouses * u64::from(DISTRICTS);
        let customers = districts * u64::from(self.customers);
        [
            ("ITEM", self.items.into()),
            ("WAREHOUSE", warehouses),
            ("STOCK", warehouses * u64::from(self.items)),
            ("DISTRICT", districts),
            ("CUSTOMER", customers),
            ("HISTORY", customers),
            ("ORDERS", customers),
            ("NEW_ORDER", districts * u64::from(self.open_orders)),
        ]
    }
}
