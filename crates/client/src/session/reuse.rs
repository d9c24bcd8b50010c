//! What the executions of one statement have in common. The first one makes it, the others use it again.

use super::blob_habit::BlobHabit;
use crate::arrow::{
    BatchBuilder, BatchLimits, DirectRow, EncodedParams, ParamOptions, ReadOptions, output_layout, schema,
};
use crate::backend::{LARGEST_KEPT_MESSAGE, Message};
use crate::error::Result;
use crate::params::Scalar;
use ::arrow::datatypes::SchemaRef;
use firearrow_proto::api::describe::StatementInfo;
use firearrow_proto::api::descriptor::Descriptor;
use firearrow_proto::api::layout::RowLayout;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What is used again for as long as the description of a statement is the same.
#[derive(Debug, Default)]
pub(crate) struct Reusable {
    pub(super) habit: BlobHabit,
    output: Mutex<Option<Output>>,
    /// A message of parameters to use again; absent while an execution has it.
    row: Mutex<Option<Box<DirectRow>>>,
}

/// How rows are read with these options.
#[derive(Debug)]
struct Output {
    options: ReadOptions,
    layout: Arc<RowLayout>,
    schema: SchemaRef,
    /// An empty builder; absent while an execution has it.
    builder: Option<Box<BatchBuilder>>,
}

/// One row of parameters as a message.
pub(crate) enum Bound {
    /// There are none.
    Nothing,
    Direct(Box<DirectRow>),
    Encoded(EncodedParams),
}

impl Bound {
    pub(crate) fn message(&self) -> Option<Message<'_>> {
        match self {
            Self::Nothing => None,
            Self::Direct(row) => Some(Message { layout: row.layout(), bytes: row.bytes() }),
            Self::Encoded(encoded) => Some(Message { layout: &encoded.layout, bytes: &encoded.bytes }),
        }
    }
}

impl Reusable {
    /// Returns an empty builder for a result, and the layout of its rows.
    pub(super) fn builder(
        &self,
        info: &StatementInfo,
        options: &ReadOptions,
        limits: BatchLimits,
    ) -> Result<(Box<BatchBuilder>, Arc<RowLayout>)> {
        if info.columns.iter().any(|column| column.array.is_some()) {
            // The engine's description of a column stays the same when its array is declared anew.
            let layout = Arc::new(output_layout(&info.columns, options)?);
            let schema = schema(&info.columns, options)?;
            let builder = BatchBuilder::with_schema(schema, &info.columns, &layout, options, limits)?;
            return Ok((Box::new(builder), layout));
        }
        let mut output = lock(&self.output);
        if output.as_ref().is_none_or(|output| output.options != *options) {
            *output = Some(Output {
                options: options.clone(),
                layout: Arc::new(output_layout(&info.columns, options)?),
                schema: schema(&info.columns, options)?,
                builder: None,
            });
        }
        let Some(output) = output.as_mut() else { unreachable!("it was made above") };
        let layout = Arc::clone(&output.layout);
        if let Some(mut builder) = output.builder.take() {
            builder.begin_result(limits);
            return Ok((builder, layout));
        }
        let schema = Arc::clone(&output.schema);
        let builder = BatchBuilder::with_schema(schema, &info.columns, &layout, options, limits)?;
        Ok((Box::new(builder), layout))
    }

    /// Takes back the builder of a result that nobody reads any more.
    pub(super) fn give_back_builder(&self, mut builder: Box<BatchBuilder>) {
        if let Some(output) = lock(&self.output).as_mut()
            && Arc::ptr_eq(&output.schema, builder.schema_ref())
            && builder.clear()
        {
            output.builder = Some(builder);
        }
    }

    /// Makes a message of plain values; `None` if one of them needs a conversion.
    pub(super) fn encode(
        &self,
        parameters: &[Descriptor],
        values: &[Scalar],
        options: &ParamOptions,
    ) -> Option<Box<DirectRow>> {
        let mut row = lock(&self.row).take().or_else(|| DirectRow::new(parameters).map(Box::new))?;
        let is_encoded = row.encode(values, options);
        if !is_encoded {
            self.give_back(Bound::Direct(row));
            return None;
        }
        Some(row)
    }

    /// Takes back a message that has been sent.
    pub(super) fn give_back(&self, bound: Bound) {
        if let Bound::Direct(row) = bound
            && row.bytes().len() <= LARGEST_KEPT_MESSAGE
        {
            *lock(&self.row) = Some(row);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
