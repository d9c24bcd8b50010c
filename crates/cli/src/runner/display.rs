//! Where rows and remarks go.

use crate::failure::{Failure, Result};
use crate::output::{Format, Output, Sink, Style};
use crate::pager::Pager;
use crate::platform::files;
use crate::terminal;
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;

/// The format of rows, and where they go.
#[derive(Debug)]
pub(crate) struct Display {
    format: Format,
    limit: Option<u64>,
    /// What a command line, or the reader, wants of it.
    pub(crate) style: Style,
    /// Instead of standard output.
    file: Option<File>,
    /// Shows what is longer than the terminal.
    pub(crate) pager: Option<Pager>,
    /// Whether remarks belong to the output, as in a terminal session.
    is_conversation: bool,
    rows_shown: u64,
}

impl Display {
    /// For a script: remarks are part of the output if that is for people.
    pub(crate) fn new(format: Format, limit: Option<u64>) -> Self {
        Self {
            format,
            limit,
            style: Style::default(),
            file: None,
            pager: None,
            is_conversation: false,
            rows_shown: 0,
        }
    }

    /// For somebody who reads what comes.
    pub(crate) fn conversation(pager: Option<Pager>) -> Self {
        Self { is_conversation: true, pager, ..Self::new(Format::Table, None) }
    }

    pub(crate) fn limit(&self) -> Option<u64> {
        self.limit
    }

    /// Rows that have been given to a sink.
    pub(crate) fn rows_shown(&self) -> u64 {
        self.rows_shown
    }

    /// Sends everything that follows to a file; `None` = to standard output again.
    /// With `append`, after what a file has.
    pub(crate) fn redirect(&mut self, path: Option<&Path>, append: bool) -> Result<()> {
        let mut options = File::options();
        options.create(true).write(true).append(append).truncate(!append);
        self.file = match path {
            Some(path) => {
                let file = files::device(path, &options).unwrap_or_else(|| options.open(path));
                Some(file.map_err(|error| Failure::file(path, &error))?)
            }
            None => None,
        };
        Ok(())
    }

    /// Changes the format of rows.
    pub(crate) fn set_format(&mut self, format: Format) {
        self.format = format;
    }

    pub(crate) fn format(&self) -> Format {
        self.format
    }

    /// Starts showing rows.
    pub(crate) fn sink(&self, schema: &SchemaRef, expanded: bool) -> Result<Box<dyn Sink>> {
        let format = if expanded && self.format == Format::Table { Format::Expanded } else { self.format };
        let is_terminal = self.file.is_none() && io::stdout().is_terminal();
        if is_terminal {
            format.refuse_terminal("write to a file with -o FILE")?;
        }
        let width = is_terminal.then(|| console::Term::stdout().size().1.into());
        let style = Style { width, stream: true, is_conversation: self.is_conversation, ..self.style };
        format.sink(schema, style, self.output()?)
    }

    pub(crate) fn show(&mut self, sink: &mut dyn Sink, batch: &RecordBatch) -> Result<()> {
        self.rows_shown += batch.num_rows() as u64;
        sink.write(batch)
    }

    /// Where text goes.
    pub(crate) fn output(&self) -> Result<Output> {
        Ok(match (&self.file, &self.pager) {
            (Some(file), _) => Box::new(BufWriter::new(file.try_clone()?)),
            (None, Some(pager)) => Box::new(pager.open()),
            (None, None) => Box::new(BufWriter::new(io::stdout())),
        })
    }

    /// Shows text for people.
    pub(crate) fn text(&self, text: &str) -> Result<()> {
        let mut output = self.output()?;
        output.write_all(terminal::lines(text).as_bytes())?;
        Ok(output.flush()?)
    }

    /// Shows a line about what was done. Programs need none among their data.
    pub(crate) fn remark(&self, text: &str) -> Result<()> {
        if !self.is_for_people() {
            return Ok(());
        }
        if self.is_conversation {
            return Ok(writeln!(io::stdout(), "{}", terminal::lines(text))?);
        }
        self.text(&format!("{text}\n"))
    }

    /// Whether people see the rows, in whatever format.
    fn is_for_people(&self) -> bool {
        self.format.is_for_people() || self.is_conversation && io::stdout().is_terminal()
    }

    /// Shows a figure that was asked for, wherever that can be.
    pub(crate) fn figure(&self, text: &str) -> Result<()> {
        if self.is_for_people() {
            return self.remark(text);
        }
        terminal::remark(text);
        Ok(())
    }
}
