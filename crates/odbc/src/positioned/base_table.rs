//! The table of a result, and what its columns are there.

use super::name;
use super::query::Query;
use crate::column::Column;
use crate::diagnostics::{Failure, Result, State};
use crate::handle::Link;
use arrow::datatypes::DataType;
use firearrow::ReadOptions;
use firearrow::arrow::NoneEncoding;
use firearrow::catalog::{self, BaseType, Identity, Index, Name};

/// The server's name of RDB$DB_KEY in results, and the one in SQL text.
const DB_KEY: [&str; 2] = ["DB_KEY", "RDB$DB_KEY"];

/// The table whose rows are those of a result.
#[derive(Debug)]
pub(crate) struct BaseTable {
    /// As the catalog spells it.
    pub(super) name: String,
    /// As SQL text.
    pub(super) sql: String,
    /// What each column of the result is in the table.
    columns: Vec<BaseColumn>,
    /// The columns of the result that identify a row.
    key: Result<Vec<usize>>,
    /// Columns whose old values can be compared, besides the key.
    pub(super) compared: Vec<usize>,
    /// Whether the cursor locks its rows.
    pub(super) locks: bool,
}

#[derive(Clone, Debug, Default)]
struct BaseColumn {
    /// As SQL text; empty for expressions.
    sql: String,
    is_writable: bool,
}

fn refused(why: &str) -> Failure {
    let text = format!("rows of this result cannot be changed through its cursor: {why}");
    Failure::new(State::NOT_IMPLEMENTED, text)
}

impl BaseTable {
    /// # Errors
    /// HYC00 if the rows are not those of one table.
    pub(crate) fn new(
        sql: Option<&str>,
        described: &[Column],
        types: &[DataType],
        link: &Link,
    ) -> Result<Self> {
        let sql = sql.ok_or_else(|| refused("it comes from the driver"))?;
        let query = Query::read(sql).map_err(refused)?;
        if let Some(other) = described
            .iter()
            .find(|column| !column.is_expression() && column.base_table.as_str() != query.table)
        {
            let other = other.base_table.as_str();
            return Err(refused(&format!("it has columns of {other}, not only of {}", query.table)));
        }
        let catalog = link.session.connection()?.catalog()?.with_system_tables(true);
        let stored = catalog.columns(Name::Is(&query.table), Name::Any)?;
        if stored.is_empty() {
            return Err(refused(&format!("{} is no table, or it has not been committed", query.table)));
        }
        let find = |name: &str| stored.iter().find(|column| column.name == name);
        let is_db_key = |column: &Column| {
            let name = column.base_column.as_str();
            !column.is_expression() && DB_KEY.contains(&name) && find(name).is_none()
        };
        let columns = described.iter().map(|column| match find(column.base_column.as_str()) {
            _ if column.is_expression() => BaseColumn::default(),
            _ if is_db_key(column) => BaseColumn { sql: DB_KEY[1].to_owned(), is_writable: false },
            Some(stored) => BaseColumn {
                sql: name::to_sql(&stored.name, link.dialect),
                is_writable: stored.computed.is_none()
                    && stored.identity != Some(Identity::Always)
                    && stored.data_type.dimensions.is_empty(),
            },
            // RDB$RECORD_VERSION, for example.
            None => BaseColumn::default(),
        });
        let columns: Vec<BaseColumn> = columns.collect();
        let compared: Vec<usize> = (0..columns.len())
            .filter(|&at| {
                let is_first = columns[..at].iter().all(|before| before.sql != columns[at].sql);
                let stored = find(described[at].base_column.as_str());
                is_first && stored.is_some_and(|stored| is_comparable(stored, types.get(at), &link.read))
            })
            .collect();
        let place =
            |name: &String| compared.iter().copied().find(|&at| described[at].base_column.as_str() == *name);
        let mut keys = catalog.indexes(Name::Is(&query.table))?;
        let constraints = catalog.constraints(Name::Is(&query.table))?;
        let primary =
            constraints.iter().find(|constraint| constraint.kind == catalog::ConstraintKind::PrimaryKey);
        let is_primary = |index: &Index| {
            primary.is_some_and(|primary| index.constraint.as_deref() == Some(primary.name.as_str()))
        };
        keys.retain(|index| identifies(index, &stored));
        // The primary key is the one that is changed least.
        keys.sort_by_key(|index| (!is_primary(index), index.segments.len()));
        let places = |index: &Index| -> Option<Vec<usize>> {
            index.segments.iter().map(|segment| place(&segment.column)).collect()
        };
        let key = keys.iter().find_map(places);
        let key = key.or_else(|| described.iter().position(is_db_key).map(|at| vec![at]));
        let missing = || {
            let wanted = match keys.first() {
                Some(index) => {
                    let names: Vec<_> =
                        index.segments.iter().map(|segment| segment.column.as_str()).collect();
                    format!("select its key {} or RDB$DB_KEY as well", names.join(", "))
                }
                None => "it has no primary key, so select RDB$DB_KEY as well".to_owned(),
            };
            refused(&format!("nothing in it identifies a row of {}: {wanted}", query.table))
        };
        let key = key.ok_or_else(missing);
        let compared = match &key {
            Ok(key) => compared.into_iter().filter(|at| !key.contains(at)).collect(),
            Err(_) => compared,
        };
        let sql = name::to_sql(&query.table, link.dialect);
        Ok(Self { name: query.table, sql, columns, key, compared, locks: query.locks })
    }

    /// The columns of the result that identify a row.
    ///
    /// # Errors
    /// HYC00 if it has none.
    pub(super) fn key(&self) -> Result<&[usize]> {
        self.key.as_deref().map_err(Clone::clone)
    }

    /// A column of the result as SQL text.
    pub(super) fn column(&self, at: usize) -> &str {
        self.columns.get(at).map_or("", |column| &column.sql)
    }

    /// Whether a column of the result can be given a value.
    pub(super) fn is_writable(&self, at: usize) -> bool {
        self.columns.get(at).is_some_and(|column| column.is_writable)
    }

    /// The column of the key, or of those that are compared, that this one is another appearance of.
    pub(super) fn in_condition(&self, at: usize) -> Option<usize> {
        let name = self.column(at);
        let mut all = self.key.iter().flatten().chain(&self.compared);
        all.find(|&&other| !name.is_empty() && self.column(other) == name).copied()
    }
}

/// Whether values of a column arrive as they are stored, and can be compared with others.
fn is_comparable(column: &catalog::Column, arrives_as: Option<&DataType>, read: &ReadOptions) -> bool {
    column.data_type.dimensions.is_empty()
        && match column.data_type.base {
            BaseType::Blob => false,
            // Rounded, if the application wants that.
            BaseType::DecFloat | BaseType::Int128 => arrives_as != Some(&DataType::Float64),
            // Only rows are decoded, not parameters.
            _ => {
                column.data_type.charset.as_deref() != Some("NONE")
                    || read.none_encoding == NoneEncoding::Utf8
            }
        }
}

/// Whether no two rows have the same values in the columns of an index.
fn identifies(index: &Index, columns: &[catalog::Column]) -> bool {
    let is_never_null = |name: &str| columns.iter().any(|column| column.name == name && !column.nullable);
    index.unique
        && index.active
        && index.condition.is_none()
        && index.expression.is_none()
        && !index.segments.is_empty()
        && index.segments.iter().all(|segment| is_never_null(&segment.column))
}
