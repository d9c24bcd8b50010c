//! Answers of any length to questions about the database.

use super::{Prepared, Session};
use crate::backend::Backend;
use crate::error::Result;
use firearrow_proto::api::info::statement::{EXPLAIN_PLAN, GET_PLAN};
use firearrow_proto::api::info::{End, InfoReader};

impl<B: Backend> Session<B> {
    /// The plan of a statement in its short form, or detailed (one line per access path).
    pub(crate) async fn plan(&mut self, prepared: &Prepared, detailed: bool) -> Result<String> {
        let item = if detailed { EXPLAIN_PLAN } else { GET_PLAN };
        let data = self.backend.statement_info(prepared.id, &[item]).await?;
        let plan = InfoReader::new(&data).find(|each| each.code == item);
        Ok(plan.map(|plan| String::from_utf8_lossy(plan.value).trim().to_owned()).unwrap_or_default())
    }

    /// Asks for all items at once, and for half of them at a time where the answer does not fit. A single item whose
    /// answer does not fit is truncated.
    pub(crate) async fn database_items(&mut self, items: &[u8]) -> Result<Vec<Vec<u8>>> {
        let mut left = vec![items];
        let mut answers = Vec::new();
        while let Some(items) = left.pop() {
            let data = self.backend.database_info(items).await?;
            if is_truncated(&data) && items.len() > 1 {
                let (first, second) = items.split_at(items.len() / 2);
                left.extend([second, first]);
            } else {
                answers.push(data);
            }
        }
        Ok(answers)
    }
}

/// Whether an answer is truncated.
pub(crate) fn is_truncated(data: &[u8]) -> bool {
    let mut reader = InfoReader::new(data);
    reader.by_ref().for_each(drop);
    reader.end() == Some(End::Truncated)
}
