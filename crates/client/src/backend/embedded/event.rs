//! Events of an engine in this process, which calls back on its own thread.

use super::Embedded;
use crate::backend::Events;
use crate::error::Result;
use crate::event::Inbox;
use firearrow_fbapi as fbapi;
use std::sync::{Arc, Weak};

/// Event requests, answered or not. An inbox has at most one at a time.
#[derive(Debug, Default)]
pub(super) struct Questions(Vec<(Weak<Inbox>, fbapi::Events)>);

impl Questions {
    /// Drops the request of `inbox`, and requests whose inbox is gone.
    fn forget(&mut self, inbox: &Arc<Inbox>) {
        let is_other = |known: &Weak<Inbox>| known.strong_count() > 0 && known.as_ptr() != Arc::as_ptr(inbox);
        self.0.retain(|(known, _)| is_other(known));
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

impl Events for Embedded {
    async fn queue_events(&mut self, block: &[u8], inbox: &Arc<Inbox>) -> Result<()> {
        self.questions.forget(inbox);
        let inbox = Arc::downgrade(inbox);
        let answered = inbox.clone();
        let question = self.attachment()?.queue_events(block, move |answer| {
            // A client library in place of an engine reports in this way that it gives up.
            if let Some(inbox) = answered.upgrade()
                && !answer.is_empty()
            {
                inbox.put(answer);
            }
        })?;
        self.questions.0.push((inbox, question));
        Ok(())
    }

    async fn cancel_events(&mut self, inbox: &Arc<Inbox>) -> Result<()> {
        self.questions.forget(inbox);
        Ok(())
    }
}
