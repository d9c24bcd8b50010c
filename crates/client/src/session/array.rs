//! Arrays: the engine describes them as ids, so their element types are looked up in the catalog.

use super::{MOST_RELATIONS, Prepared, Session};
use crate::answer::{number, text};
use crate::arrow::{BatchLimits, EncodedParams, ParamOptions, ReadOptions};
use crate::backend::{Backend, TransactionId};
use crate::error::{Error, Kind, Result};
use crate::params::Params;
use ::arrow::array::RecordBatch;
use ::arrow::datatypes::Int32Type;
use firearrow_proto::api::array::{ArrayShape, MAX_DIMENSIONS, Slice};
use firearrow_proto::api::blr;
use firearrow_proto::api::describe::StatementInfo;
use firearrow_proto::api::descriptor::{Descriptor, SqlType};
use firearrow_proto::api::layout::MAX_FIELDS;
use std::collections::HashMap;
use std::sync::Arc;

/// The array columns of relations, by their names.
pub(crate) type ArrayCatalog = HashMap<String, HashMap<String, Arc<ArrayShape>>>;

/// All array columns of a relation: one row for each dimension.
const CATALOG: &str = "SELECT CAST(TRIM(C.RDB$FIELD_NAME) AS VARCHAR(63) CHARACTER SET UTF8), \
     CAST(F.RDB$FIELD_TYPE AS INTEGER), CAST(COALESCE(F.RDB$FIELD_SUB_TYPE, 0) AS INTEGER), \
     CAST(COALESCE(F.RDB$FIELD_SCALE, 0) AS INTEGER), CAST(F.RDB$FIELD_LENGTH AS INTEGER), \
     CAST(COALESCE(F.RDB$CHARACTER_SET_ID, 0) AS INTEGER), D.RDB$LOWER_BOUND, D.RDB$UPPER_BOUND \
     FROM RDB$RELATION_FIELDS C JOIN RDB$FIELDS F ON F.RDB$FIELD_NAME = C.RDB$FIELD_SOURCE \
     JOIN RDB$FIELD_DIMENSIONS D ON D.RDB$FIELD_NAME = F.RDB$FIELD_NAME \
     WHERE C.RDB$RELATION_NAME = ? ORDER BY C.RDB$FIELD_NAME, D.RDB$DIMENSION";

impl<B: Backend> Session<B> {
    /// Adds element types to the arrays of a statement. Without arrays, or if all are known, this sends nothing. Arrays
    /// that come from no relation stay without.
    pub(super) async fn with_arrays(&mut self, mut prepared: Prepared) -> Result<Prepared> {
        let mut all = prepared.info.columns.iter().chain(&prepared.info.parameters);
        if all.any(|described| described.sql_type == SqlType::ARRAY) {
            // A copy: the remembered description of a statement is compared with the engine's.
            let mut info = StatementInfo::clone(&prepared.info);
            if let Err(error) = self.describe_arrays(&mut info).await {
                // Report the original error.
                let _ = self.backend.free_statement(prepared.id).await;
                return Err(error);
            }
            prepared.info = Arc::new(info);
        }
        Ok(prepared)
    }

    async fn describe_arrays(&mut self, info: &mut StatementInfo) -> Result<()> {
        for described in info.columns.iter_mut().chain(&mut info.parameters) {
            if described.sql_type != SqlType::ARRAY || described.relation.is_empty() {
                continue;
            }
            let known =
                self.arrays.get(&described.relation).and_then(|columns| columns.get(&described.field));
            described.array = match known {
                Some(shape) => Some(Arc::clone(shape)),
                None => {
                    let columns = self.look_up_arrays(&described.relation).await?;
                    let shape = columns.get(&described.field).cloned();
                    if self.arrays.len() >= MOST_RELATIONS {
                        self.arrays.clear();
                    }
                    self.arrays.insert(described.relation.clone(), columns);
                    shape
                }
            };
        }
        Ok(())
    }

    /// Columns may have been declared anew.
    pub(super) fn forget_arrays(&mut self) {
        self.arrays.clear();
    }

    async fn look_up_arrays(&mut self, relation: &str) -> Result<HashMap<String, Arc<ArrayShape>>> {
        // Not in the caller's transaction: its snapshot may be older than the relation.
        let transaction = self.describing().await?;
        let prepared = self.recall_plain(transaction, CATALOG.into()).await?;
        let columns = self.read_catalog(&prepared, transaction, relation).await;
        self.backend.free_statement(prepared.id).await?;
        columns
    }

    async fn read_catalog(
        &mut self,
        prepared: &Prepared,
        transaction: TransactionId,
        relation: &str,
    ) -> Result<HashMap<String, Arc<ArrayShape>>> {
        let parameters = Params::texts([Some(relation)]);
        let bound = self.bind(prepared, transaction, &parameters, &ParamOptions::default()).await?;
        let (read, limits) = (ReadOptions::default(), BatchLimits::default().full(true));
        let mut fetching = self.open(prepared, transaction, bound.message(), &read, limits).await?;
        let mut columns = HashMap::<String, (Descriptor, Vec<(i32, i32)>)>::new();
        while let Some(batch) = self.next_batch(&mut fetching).await? {
            for row in 0..batch.num_rows() {
                let (name, element, bounds) = catalog_row(&batch, row)?;
                let column = columns.entry(name).or_insert_with(|| (element, Vec::new()));
                column.1.push(bounds);
                if column.1.len() > MAX_DIMENSIONS || columns.len() > MAX_FIELDS {
                    let text = format!("the catalog has more arrays in {relation} than there can be");
                    return Err(Error::new(Kind::Protocol, text));
                }
            }
        }
        self.close_fetching(&fetching).await?;
        let shapes = columns.into_iter().map(|(name, (element, bounds))| {
            let shape = ArrayShape::new(element, bounds).ok_or_else(|| {
                Error::new(Kind::Unsupported, format!("the array {name} of {relation} has impossible bounds"))
            })?;
            Ok((name, Arc::new(shape)))
        });
        shapes.collect()
    }

    /// Creates the arrays of these parameters.
    pub(super) async fn create_arrays(
        &mut self,
        transaction: TransactionId,
        encoded: &mut EncodedParams,
    ) -> Result<()> {
        for cells in std::mem::take(&mut encoded.arrays) {
            let slices: Vec<Slice<'_>> = cells.slices().collect();
            let ids = self.backend.write_arrays(transaction, &slices).await.map_err(|error| {
                error.context(format!("an array of parameter {} could not be created", cells.column + 1))
            });
            if ids.is_err() {
                self.forget_arrays();
            }
            encoded.set_arrays(&cells, &ids?);
        }
        Ok(())
    }
}

fn catalog_row(batch: &RecordBatch, row: usize) -> Result<(String, Descriptor, (i32, i32))> {
    let missing = |what| Error::new(Kind::Protocol, format!("an array in the catalog has no {what}"));
    let number = |column| number::<Int32Type>(batch, column, row)?.ok_or_else(|| missing("size"));
    let name = text(batch, 0, row)?.ok_or_else(|| missing("name"))?.to_owned();
    let sql_type = sql_type(number(1)?);
    let is_text = matches!(sql_type, SqlType::TEXT | SqlType::VARYING);
    let element = Descriptor {
        sql_type,
        nullable: false,
        // Descriptions have the character set in the sub type of text.
        sub_type: if is_text { number(5)? } else { number(2)? },
        scale: number(3)?,
        length: number(4)? as u32,
        field: name.clone(),
        ..Descriptor::default()
    };
    Ok((name, element, (number(6)?, number(7)?)))
}

/// From `RDB$FIELD_TYPE`, which is the number in BLR.
fn sql_type(field_type: i32) -> SqlType {
    let unknown = SqlType(field_type as u16);
    let Ok(code) = u8::try_from(field_type) else { return unknown };
    match code {
        blr::SHORT => SqlType::SHORT,
        blr::LONG => SqlType::LONG,
        blr::FLOAT => SqlType::FLOAT,
        blr::D_FLOAT => SqlType::D_FLOAT,
        blr::SQL_DATE => SqlType::DATE,
        blr::SQL_TIME => SqlType::TIME,
        blr::TEXT => SqlType::TEXT,
        blr::INT64 => SqlType::INT64,
        blr::BOOL => SqlType::BOOLEAN,
        blr::DEC64 => SqlType::DEC16,
        blr::DEC128 => SqlType::DEC34,
        blr::INT128 => SqlType::INT128,
        blr::DOUBLE => SqlType::DOUBLE,
        blr::SQL_TIME_TZ => SqlType::TIME_TZ,
        blr::TIMESTAMP_TZ => SqlType::TIMESTAMP_TZ,
        blr::TIMESTAMP => SqlType::TIMESTAMP,
        blr::VARYING => SqlType::VARYING,
        _ => unknown,
    }
}
