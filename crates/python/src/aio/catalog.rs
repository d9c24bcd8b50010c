//! The catalog.

use super::connection::Connection;
use super::operation::{Operation, spawn};
use crate::api::{Api, Asynchronous};
use crate::catalog::Question;
use pyo3::prelude::*;
use std::sync::Arc;

#[pymethods]
impl Connection {
    #[pyo3(signature = (about, name=None, system=false))]
    fn catalog(
        &self,
        py: Python<'_>,
        about: &str,
        name: Option<String>,
        system: bool,
    ) -> PyResult<Operation> {
        self.shared.facts.check_process(py)?;
        let question = Question::new(py, about, name, system)?;
        let shared = Arc::clone(&self.shared);
        let ask = async move {
            let connection = shared.enter().await?;
            Ok(Asynchronous::look_up(&connection, &question).await?)
        };
        spawn(py, ask, |py, answer| answer.tell(py))
    }
}
