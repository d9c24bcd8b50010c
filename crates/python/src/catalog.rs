//! The catalog as lists of dicts, which `firearrow.catalog` makes objects of.

use crate::api::{Api, Blocking, ready};
use crate::connection::Connection;
use crate::error;
use firearrow::catalog::{
    Column, ColumnType, Constraint, ConstraintKind, Generator, Identity, Index, LimboTransaction, Name,
    Table, TableKind,
};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

/// What is asked for.
#[derive(Clone, Copy)]
pub(crate) enum About {
    Tables,
    Columns,
    Constraints,
    Indexes,
    Generators,
    GeneratorValue,
    LimboTransactions,
}

/// A question to the catalog.
pub(crate) struct Question {
    pub(crate) about: About,
    /// Of a table or a generator; `None` = all.
    name: Option<String>,
    /// Whether what belongs to the engine counts.
    pub(crate) with_system: bool,
}

/// What the catalog said.
pub(crate) enum Answer {
    Tables(Vec<Table>),
    Columns(Vec<Column>),
    Constraints(Vec<Constraint>),
    Indexes(Vec<Index>),
    Generators(Vec<Generator>),
    GeneratorValue(i64),
    LimboTransactions(Vec<LimboTransaction>),
}

impl Question {
    pub(crate) fn new(
        py: Python<'_>,
        about: &str,
        name: Option<String>,
        with_system: bool,
    ) -> PyResult<Self> {
        let about = match about {
            "tables" => About::Tables,
            "columns" => About::Columns,
            "constraints" => About::Constraints,
            "indexes" => About::Indexes,
            "generators" => About::Generators,
            "generator_value" => About::GeneratorValue,
            "limbo_transactions" => About::LimboTransactions,
            _ => return Err(error::programming(py, format!("the catalog has no {about}"))),
        };
        Ok(Self { about, name, with_system })
    }

    pub(crate) fn name(&self) -> Name<'_> {
        self.name.as_deref().map_or(Name::Any, Name::Is)
    }

    /// The name of one thing.
    pub(crate) fn one_name(&self) -> &str {
        self.name.as_deref().unwrap_or_default()
    }
}

#[pymethods]
impl Connection {
    #[pyo3(signature = (about, name=None, system=false))]
    fn catalog(
        &self,
        py: Python<'_>,
        about: &str,
        name: Option<String>,
        system: bool,
    ) -> PyResult<Py<PyAny>> {
        let question = Question::new(py, about, name, system)?;
        let answer = self.shared.run(py, |connection| ready(Blocking::look_up(connection, &question)))?;
        answer.tell(py)
    }
}

impl Answer {
    /// For Python: dicts, or a number.
    pub(crate) fn tell(self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let found = match self {
            Self::Tables(found) => list(py, found, put_table),
            Self::Columns(found) => list(py, found, put_column),
            Self::Constraints(found) => list(py, found, put_constraint),
            Self::Indexes(found) => list(py, found, put_index),
            Self::Generators(found) => list(py, found, put_generator),
            Self::LimboTransactions(found) => list(py, found, put_limbo_transaction),
            Self::GeneratorValue(value) => return Ok(value.into_pyobject(py)?.into_any().unbind()),
        };
        Ok(found?.into_any().unbind())
    }
}

/// Makes a dict of each item.
fn list<'py, T>(
    py: Python<'py>,
    items: Vec<T>,
    put: impl Fn(&Bound<'py, PyDict>, T) -> PyResult<()>,
) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for item in items {
        let dict = PyDict::new(py);
        put(&dict, item)?;
        list.append(dict)?;
    }
    Ok(list)
}

fn put_table(to: &Bound<'_, PyDict>, table: Table) -> PyResult<()> {
    to.set_item("name", table.name)?;
    to.set_item(
        "kind",
        match table.kind {
            TableKind::Table => "table",
            TableKind::View => "view",
            TableKind::System => "system table",
            TableKind::GlobalTemporary { .. } => "global temporary table",
            TableKind::External => "external table",
        },
    )?;
    to.set_item("remarks", table.remarks)
}

fn put_column(to: &Bound<'_, PyDict>, column: Column) -> PyResult<()> {
    to.set_item("table", column.table)?;
    to.set_item("name", column.name)?;
    to.set_item("position", column.position)?;
    put_type(to, &column.data_type)?;
    to.set_item("nullable", column.nullable)?;
    to.set_item("default", column.default)?;
    let identity = column.identity.map(|identity| match identity {
        Identity::Always => "always",
        Identity::ByDefault => "by default",
    });
    to.set_item("identity", identity)?;
    to.set_item("computed", column.computed)?;
    to.set_item("domain", column.domain)?;
    to.set_item("remarks", column.remarks)
}

fn put_constraint(to: &Bound<'_, PyDict>, constraint: Constraint) -> PyResult<()> {
    to.set_item("table", constraint.table)?;
    to.set_item("name", constraint.name)?;
    to.set_item(
        "kind",
        match constraint.kind {
            ConstraintKind::PrimaryKey => "primary key",
            ConstraintKind::Unique => "unique",
            ConstraintKind::ForeignKey => "foreign key",
            ConstraintKind::Check => "check",
        },
    )?;
    to.set_item("columns", constraint.columns)?;
    to.set_item("index", constraint.index)?;
    let reference = constraint.references.map(|reference| {
        let dict = PyDict::new(to.py());
        dict.set_item("constraint", reference.constraint)?;
        dict.set_item("table", reference.table)?;
        dict.set_item("columns", reference.columns)?;
        dict.set_item("on_update", reference.on_update)?;
        dict.set_item("on_delete", reference.on_delete)?;
        PyResult::Ok(dict)
    });
    to.set_item("references", reference.transpose()?)?;
    to.set_item("check", constraint.check)
}

fn put_index(to: &Bound<'_, PyDict>, index: Index) -> PyResult<()> {
    to.set_item("table", index.table)?;
    to.set_item("name", index.name)?;
    to.set_item("unique", index.unique)?;
    to.set_item("descending", index.descending)?;
    to.set_item("active", index.active)?;
    to.set_item("constraint", index.constraint)?;
    let columns: Vec<String> = index.segments.into_iter().map(|segment| segment.column).collect();
    to.set_item("columns", columns)?;
    to.set_item("expression", index.expression)?;
    to.set_item("condition", index.condition)?;
    to.set_item("selectivity", index.selectivity)
}

fn put_generator(to: &Bound<'_, PyDict>, generator: Generator) -> PyResult<()> {
    to.set_item("name", generator.name)?;
    to.set_item("initial_value", generator.initial_value)?;
    to.set_item("increment", generator.increment)?;
    to.set_item("remarks", generator.remarks)
}

fn put_limbo_transaction(to: &Bound<'_, PyDict>, transaction: LimboTransaction) -> PyResult<()> {
    to.set_item("number", transaction.number)?;
    to.set_item("message", PyBytes::new(to.py(), &transaction.message))
}

fn put_type(to: &Bound<'_, PyDict>, data_type: &ColumnType) -> PyResult<()> {
    to.set_item("type_name", data_type.base.name())?;
    to.set_item("length", data_type.length)?;
    to.set_item("characters", data_type.characters)?;
    to.set_item("precision", data_type.precision)?;
    to.set_item("scale", data_type.scale)?;
    to.set_item("sub_type", data_type.sub_type)?;
    to.set_item("charset", data_type.charset.as_deref())?;
    to.set_item("collation", data_type.collation.as_deref())?;
    to.set_item("dimensions", data_type.dimensions.clone())
}
