//! Batches of parameters from another library's stream.

use crate::api::{Api, Asynchronous, Blocking};
use crate::capsule::Received;
use arrow::array::{RecordBatch, RecordBatchReader};
use arrow::error::ArrowError;
use firearrow::{OnFailure, Result, RowsExecuted};
use futures_core::Stream;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::task::{JoinHandle, spawn_blocking};

/// Executes a statement for all rows of a stream.
pub(crate) trait Pour: Api {
    fn pour(
        statement: &Self::Statement,
        running: &mut Self::Transaction,
        reader: Received,
        on_failure: OnFailure,
    ) -> impl Future<Output = Result<RowsExecuted>> + Send;
}

impl Pour for Blocking {
    async fn pour(
        statement: &Self::Statement,
        running: &mut Self::Transaction,
        reader: Received,
        on_failure: OnFailure,
    ) -> Result<RowsExecuted> {
        statement.execute_stream(running, reader, on_failure)
    }
}

impl Pour for Asynchronous {
    async fn pour(
        statement: &Self::Statement,
        running: &mut Self::Transaction,
        reader: Received,
        on_failure: OnFailure,
    ) -> Result<RowsExecuted> {
        let schema = reader.schema();
        statement.execute_stream(running, schema, Pulled(Some(pull(reader))), on_failure).await
    }
}

type Pull = JoinHandle<(Option<std::result::Result<RecordBatch, ArrowError>>, Received)>;

/// The batches of a reader, which may take its time: the next one comes while the one before is sent.
struct Pulled(Option<Pull>);

fn pull(mut reader: Received) -> Pull {
    spawn_blocking(move || (reader.next(), reader))
}

impl Stream for Pulled {
    type Item = std::result::Result<RecordBatch, ArrowError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Some(pulling) = &mut self.0 else { return Poll::Ready(None) };
        let pulled = ready!(Pin::new(pulling).poll(context));
        self.0 = None;
        let Ok((batch, reader)) = pulled else {
            let failed = ArrowError::ComputeError("the reader of Arrow data was given up".into());
            return Poll::Ready(Some(Err(failed)));
        };
        if matches!(batch, Some(Ok(_))) {
            self.0 = Some(pull(reader));
        }
        Poll::Ready(batch)
    }
}
