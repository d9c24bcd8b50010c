//! Other databases, and connections that are lost.

use super::{Next, Shell, report_failure};
use crate::failure::{Failure, Result};
use crate::{interrupt, open, terminal};
use firearrow::Config;

impl Shell {
    /// Connects to another database, or to the same one again.
    pub(super) fn connect(&mut self, url: Option<&str>) -> Result<()> {
        if self.runner.borrow().uncommitted().is_some_and(|changes| changes > 0) {
            return Err(Failure::usage("there are changes that are not committed: COMMIT or ROLLBACK first"));
        }
        let old = self.runner.borrow().url.clone();
        let url = url.unwrap_or(&old);
        let config = open::parse_another(url)?;
        self.reconnect(url, config)
    }

    fn reconnect(&mut self, url: &str, config: Config) -> Result<()> {
        open::warn_again();
        let connection = match &self.conversation {
            Some(conversation) => conversation.turn(|| open::attach_until_stopped(&config))?,
            None => open::attach(&config)?,
        };
        let url = open::with_whole_path(url, &config);
        self.runner.borrow_mut().reconnected(&url, config, connection);
        if let Some(editor) = &self.editor {
            editor.forget_names();
        }
        if self.editor.is_some() { self.greet() } else { Ok(()) }
    }

    /// Shows a failure. A lost connection can be replaced.
    pub(super) fn recover(&mut self, failure: &Failure) -> Result<Next> {
        // Whoever has left the pager has seen enough.
        if matches!(failure.reason(), Failure::PipeClosed) {
            return Ok(Next::Continue);
        }
        report_failure(failure);
        if interrupt::reason().is_some() || !self.runner.borrow().connection.is_failed() {
            return Ok(Next::Continue);
        }
        let question = "The connection is lost, and with it what was not committed. Connect again? [Y/n] ";
        let Some(editor) = &mut self.editor else { return Ok(Next::Continue) };
        let mut again = editor.ask(question, true)? == Some(true);
        while again {
            let (url, config) = (self.runner.borrow().url.clone(), self.runner.borrow().config.clone());
            match self.reconnect(&url, config) {
                Ok(()) => return Ok(Next::Continue),
                Err(failure) => report_failure(&failure),
            }
            let Some(editor) = &mut self.editor else { break };
            again = interrupt::reason().is_none() && editor.ask("Try again? [Y/n] ", true)? == Some(true);
        }
        terminal::remark("\\connect connects again");
        Ok(Next::Continue)
    }
}
