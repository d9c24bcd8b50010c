//! The declared precision of NUMERIC and DECIMAL columns, which the engine's descriptions lack.

use crate::arrow::{DecimalPrecision, ReadOptions};
use crate::backend::Backend;
use crate::catalog::{Name, View};
use crate::error::Result;
use crate::session::{MOST_RELATIONS, Session};
use firearrow_proto::api::descriptor::{Descriptor, SqlType};
use std::collections::HashMap;
use std::sync::Arc;

/// What was looked up so far: precisions by column, by table.
pub(crate) type Precisions = HashMap<String, Arc<HashMap<String, u8>>>;

impl<B: Backend> Session<B> {
    /// The options with the declared precisions of these columns, if they want any. A table is looked up once, and anew
    /// when this connection may have altered it. Nothing else does that: see the option `decimal_precision`.
    pub(crate) async fn declared(
        &mut self,
        columns: &[Descriptor],
        options: &ReadOptions,
    ) -> Result<ReadOptions> {
        let mut options = options.clone();
        if options.decimal_precision != DecimalPrecision::Declared {
            return Ok(options);
        }
        let mut precisions = vec![None; columns.len()];
        for (precision, column) in precisions.iter_mut().zip(columns) {
            let element = column.array.as_ref().map_or(column, |shape| shape.element());
            if is_decimal(element) && !column.relation.is_empty() {
                *precision = self.precisions_of(&column.relation).await?.get(&column.field).copied();
            }
        }
        options.declared_precision = precisions;
        Ok(options)
    }

    /// Of the columns of a table.
    async fn precisions_of(&mut self, table: &str) -> Result<Arc<HashMap<String, u8>>> {
        if let Some(known) = self.precisions.get(table) {
            return Ok(Arc::clone(known));
        }
        let transaction = self.describing().await?;
        let view = View { transaction, with_system: true };
        let columns = view.columns(self, Name::Is(table), Name::Any).await?;
        let found = columns.into_iter().filter_map(|column| Some((column.name, column.data_type.precision?)));
        let found = Arc::new(found.collect::<HashMap<_, _>>());
        if self.precisions.len() >= MOST_RELATIONS {
            self.precisions.clear();
        }
        self.precisions.insert(table.to_owned(), Arc::clone(&found));
        Ok(found)
    }
}

/// Sub types of BLOBs mean something else.
fn is_decimal(column: &Descriptor) -> bool {
    let is_exact =
        [SqlType::SHORT, SqlType::LONG, SqlType::INT64, SqlType::INT128].contains(&column.sql_type);
    is_exact && matches!(column.sub_type, 1 | 2)
}
