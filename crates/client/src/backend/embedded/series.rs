//! Executes a statement for many parameter rows and streams the results in order, one execution at a time.

use super::{Embedded, no_statement};
use crate::arrow::BatchBuilder;
use crate::backend::{Cursors, Message, QuerySeries, Series, StatementId, Statements, Turn, Writer};
use crate::error::{Error, Kind, Result};
use firearrow_proto::api::describe::RecordCounts;

impl QuerySeries for Embedded {
    async fn collect(
        &mut self,
        writer: &mut Writer,
        series: &mut Series,
        builder: &mut BatchBuilder,
    ) -> Result<bool> {
        let mut turn = Turn::default();
        while builder.has_room() {
            if let Some(row) = series.open {
                match self.fetch(writer.statement, builder).await {
                    Ok(false) => return Ok(false),
                    Ok(true) => self.turn_ended(writer, series, row, Ok(())).await?,
                    Err(error) if error.gds_codes().is_empty() => return Err(error),
                    Err(error) => self.turn_ended(writer, series, row, Err(error)).await?,
                }
                continue;
            }
            self.check_interruption()?;
            if writer.should_stop() {
                series.cut();
            }
            if !series.next(&mut turn) {
                return Ok(true);
            }
            let message = Some(Message { layout: &turn.layout, bytes: &turn.message });
            if series.has_cursor {
                let opened =
                    self.open_cursor(writer.statement, writer.transaction, message, &series.output).await;
                match opened {
                    Ok(()) => series.open = Some(turn.row),
                    Err(error) if error.gds_codes().is_empty() => return Err(error),
                    Err(error) => writer.executed(turn.row, Err(error))?,
                }
            } else {
                let output = Some((&series.output, &mut *builder));
                let executed =
                    self.execute(writer.statement, writer.transaction, message, output, true).await;
                match executed {
                    Err(error) if error.gds_codes().is_empty() => {
                        if error.kind() == Kind::Data {
                            // Its row is unreadable, but the statement has run.
                            let counted = self.record_counts(writer.statement)?;
                            writer.executed(turn.row, Ok(counted))?;
                        }
                        return Err(error);
                    }
                    executed => {
                        writer.executed(turn.row, executed.map(|executed| executed.counts))?;
                    }
                }
            }
        }
        Ok(false)
    }

    async fn end_series(&mut self, writer: &mut Writer, series: &mut Series) -> Result<()> {
        match series.open {
            Some(row) => self.turn_ended(writer, series, row, Ok(())).await,
            None => Ok(()),
        }
    }
}

impl Embedded {
    async fn turn_ended(
        &mut self,
        writer: &mut Writer,
        series: &mut Series,
        row: usize,
        result: Result<(), Error>,
    ) -> Result<()> {
        series.open = None;
        let counted = match writer.asks_counts {
            true => self.record_counts(writer.statement)?,
            false => None,
        };
        self.close_cursor(writer.statement).await?;
        writer.executed(row, result.map(|()| counted))
    }

    fn record_counts(&mut self, statement: StatementId) -> Result<Option<RecordCounts>> {
        let entry = self.statements.get(&statement.0).ok_or_else(no_statement)?;
        super::statement::record_counts(&entry.statement)
    }
}
