//! The beginning of a session.

use super::Session;
use crate::arrow::{BatchLimits, ReadOptions};
use crate::backend::link::Link;
use crate::backend::{AnyBackend, Sql};
use crate::config::Config;
use crate::db_key::KeyHolder;
use crate::error::{Kind, Result};
use crate::session::run::How;
use firearrow_proto::api::dialect::Dialect;
use std::sync::Arc;

/// The configuration of a connection.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// How results are read.
    pub(crate) read: ReadOptions,
    pub(crate) limits: BatchLimits,
    pub(crate) dialect: Dialect,
    /// For another connection to the same database.
    pub(crate) config: Config,
}

impl Facts {
    pub(crate) fn of(config: &Config) -> Result<Self> {
        // Fields may have changed since it was parsed.
        config.check()?;
        let read = config.read_options()?;
        let (limits, dialect) = (BatchLimits::default(), config.dialect);
        Ok(Self { read, limits, dialect, config: config.clone() })
    }

    /// SQL text from the user of the connection.
    pub(crate) fn sql<'a>(&self, text: &'a str) -> Sql<'a> {
        Sql::new(text, self.dialect)
    }

    /// How its statements read and write unless they say otherwise.
    pub(crate) fn how(&self) -> How {
        How { read: self.read.clone(), limits: self.limits, ..How::default() }
    }
}

impl<L: Link> Session<AnyBackend<L>> {
    /// Attaches to a database, or creates it.
    pub(crate) async fn connect(facts: &Arc<Facts>, create: bool) -> Result<Self> {
        let config = &facts.config;
        let mut key = KeyHolder::new(config);
        let backend = match AnyBackend::attach(config, create, &mut key).await {
            Err(error) if config.create_if_missing && !create && error.kind() == Kind::Database => {
                match AnyBackend::attach(config, true, &mut key).await {
                    // Somebody else has created it meanwhile, or it was not missing: then the reason comes again.
                    Err(creating) if says_it_exists(creating.message()) => {
                        AnyBackend::attach(config, false, &mut key).await?
                    }
                    result => result?,
                }
            }
            result => result?,
        };
        backend.warnings().iter().for_each(|warning| tracing::warn!("{warning}"));
        Ok(Self::new(backend, Arc::clone(facts)))
    }
}

/// Whether the message of the engine's system says that the file to be created exists, in the words of Linux or Windows.
fn says_it_exists(message: &str) -> bool {
    // The first line has the name of the file.
    message.lines().skip(1).any(|line| line.contains("File exists") || line.contains("The file exists"))
}
