//! The only place that lists both backends.

use super::Reconnect;
#[cfg(feature = "embedded")]
use super::embedded::Embedded;
use super::link::Link;
use super::wire::Wire;
use crate::config::{Config, Target};
use crate::db_key::KeyHolder;
use crate::error::Result;
use crate::warning::{Warning, Warnings};

/// A database, wherever it is.
pub(crate) enum AnyBackend<L> {
    Wire(Box<Wire<L>>),
    #[cfg(feature = "embedded")]
    Embedded(Box<Embedded>),
}

impl<L: Link> AnyBackend<L> {
    pub(crate) async fn attach(config: &Config, create: bool, key: &mut KeyHolder<'_>) -> Result<Self> {
        match &config.target {
            Target::Remote { host, port, database } => {
                let wire = Wire::connect(config, (host, *port), database, create, key).await?;
                Ok(Self::Wire(Box::new(wire)))
            }
            #[cfg(feature = "embedded")]
            Target::Embedded { path } => {
                Embedded::connect(config, path, create).map(|embedded| Self::Embedded(Box::new(embedded)))
            }
            #[cfg(not(feature = "embedded"))]
            Target::Embedded { path } => Err(crate::error::Error::new(
                crate::error::Kind::Unsupported,
                format!(
                    "{path} names a local database, but this build has no embedded engine: name a server \
                     (firebird://host/{path}), or use a build that has the engine"
                ),
            )),
        }
    }

    /// Warnings about the connection itself.
    pub(crate) fn warnings(&self) -> Vec<Warning> {
        match self {
            Self::Wire(wire) => wire.warnings.clone(),
            #[cfg(feature = "embedded")]
            Self::Embedded(embedded) => embedded.warnings.clone(),
        }
    }

    /// Warnings of its statements.
    pub(crate) fn statement_warnings(&self) -> Warnings {
        match self {
            Self::Wire(wire) => wire.statement_warnings(),
            #[cfg(feature = "embedded")]
            Self::Embedded(embedded) => embedded.statement_warnings.clone(),
        }
    }
}

impl<L: Link> Reconnect for AnyBackend<L> {
    async fn connect_again(&mut self, config: &Config, key: &mut KeyHolder<'_>) -> Result<Self> {
        Self::attach(config, false, key).await
    }
}

/// Declares a trait, and implements it for [`AnyBackend`] by forwarding every method.
macro_rules! family {
    ($(#[$about:meta])* trait $Family:ident $(: $first:ident $(+ $more:ident)*)? { $($methods:tt)* }) => {
        $(#[$about])*
        pub(crate) trait $Family $(: $first $(+ $more)*)? { $($methods)* }

        impl<L: Link> $Family for AnyBackend<L> {
            forward! { $($methods)* }
        }
    };
}
pub(super) use family;

/// Methods that forward to the same method of the actual backend.
macro_rules! forward {
    () => {};
    ($(#[$about:meta])* async fn $name:ident(&mut $self:ident $(, $given:ident: $kind:ty)* $(,)?) $(-> $result:ty)?;
     $($others:tt)*) => {
        async fn $name(&mut $self $(, $given: $kind)*) $(-> $result)? {
            match $self {
                Self::Wire(wire) => wire.$name($($given),*).await,
                #[cfg(feature = "embedded")]
                Self::Embedded(embedded) => embedded.$name($($given),*).await,
            }
        }
        forward! { $($others)* }
    };
    ($(#[$about:meta])* fn $name:ident(&mut $self:ident $(, $given:ident: $kind:ty)* $(,)?) $(-> $result:ty)?;
     $($others:tt)*) => {
        fn $name(&mut $self $(, $given: $kind)*) $(-> $result)? {
            match $self {
                Self::Wire(wire) => wire.$name($($given),*),
                #[cfg(feature = "embedded")]
                Self::Embedded(embedded) => embedded.$name($($given),*),
            }
        }
        forward! { $($others)* }
    };
    ($(#[$about:meta])* fn $name:ident(&$self:ident $(, $given:ident: $kind:ty)* $(,)?) $(-> $result:ty)?;
     $($others:tt)*) => {
        fn $name(&$self $(, $given: $kind)*) $(-> $result)? {
            match $self {
                Self::Wire(wire) => wire.$name($($given),*),
                #[cfg(feature = "embedded")]
                Self::Embedded(embedded) => embedded.$name($($given),*),
            }
        }
        forward! { $($others)* }
    };
}
pub(super) use forward;
