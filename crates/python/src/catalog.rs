//! The catalog as lists of dicts, which `firearrow.catalog` makes objects of.

use crate::connection::Connection;
use firearrow::catalog::{ColumnType, ConstraintKind, Identity, Name, TableKind};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

fn name(given: Option<&str>) -> Name<'_> {
    given.map_or(Name::Any, Name::Is)
}

/// Makes a dict of each item.
fn list<'py, T>(
    py: Python<'py>,
    items: Vec<T>,
    fill: impl Fn(&Bound<'py, PyDict>, T) -> PyResult<()>,
) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for item in items {
        let dict = PyDict::new(py);
        fill(&dict, item)?;
        list.append(dict)?;
    }
    Ok(list)
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

#[pymethods]
impl Connection {
    /// Tables and views.
    #[pyo3(signature = (table=None, system=false))]
    fn catalog_tables<'py>(
        &self,
        py: Python<'py>,
        table: Option<&str>,
        system: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        let found = self
            .shared
            .run(py, |connection| connection.catalog()?.with_system_tables(system).tables(name(table)))?;
        list(py, found, |to, table| {
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
        })
    }

    #[pyo3(signature = (table=None, system=false))]
    fn catalog_columns<'py>(
        &self,
        py: Python<'py>,
        table: Option<&str>,
        system: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        let found = self.shared.run(py, |connection| {
            connection.catalog()?.with_system_tables(system).columns(name(table), Name::Any)
        })?;
        list(py, found, |to, column| {
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
        })
    }

    #[pyo3(signature = (table=None))]
    fn catalog_constraints<'py>(&self, py: Python<'py>, table: Option<&str>) -> PyResult<Bound<'py, PyList>> {
        let found = self.shared.run(py, |connection| connection.catalog()?.constraints(name(table)))?;
        list(py, found, |to, constraint| {
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
                let dict = PyDict::new(py);
                dict.set_item("constraint", reference.constraint)?;
                dict.set_item("table", reference.table)?;
                dict.set_item("columns", reference.columns)?;
                dict.set_item("on_update", reference.on_update)?;
                dict.set_item("on_delete", reference.on_delete)?;
                PyResult::Ok(dict)
            });
            to.set_item("references", reference.transpose()?)?;
            to.set_item("check", constraint.check)
        })
    }

    #[pyo3(signature = (table=None))]
    fn catalog_indexes<'py>(&self, py: Python<'py>, table: Option<&str>) -> PyResult<Bound<'py, PyList>> {
        let found = self.shared.run(py, |connection| connection.catalog()?.indexes(name(table)))?;
        list(py, found, |to, index| {
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
        })
    }

    #[pyo3(signature = (generator=None))]
    fn catalog_generators<'py>(
        &self,
        py: Python<'py>,
        generator: Option<&str>,
    ) -> PyResult<Bound<'py, PyList>> {
        let found = self.shared.run(py, |connection| connection.catalog()?.generators(name(generator)))?;
        list(py, found, |to, generator| {
            to.set_item("name", generator.name)?;
            to.set_item("initial_value", generator.initial_value)?;
            to.set_item("increment", generator.increment)?;
            to.set_item("remarks", generator.remarks)
        })
    }

    fn catalog_generator_value(&self, py: Python<'_>, generator: &str) -> PyResult<i64> {
        self.shared.run(py, |connection| connection.catalog()?.generator_value(generator))
    }
}
