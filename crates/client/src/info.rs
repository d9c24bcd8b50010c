//! Facts about a server, a database and the transport.

use crate::answer;
use crate::backend::Backend;
use crate::error::{Error, Kind, Result};
use crate::params::Params;
use crate::session::Session;
use firearrow_proto::api::info::{InfoReader, Item, counted_strings, database as item};

/// Facts about a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerInfo {
    /// Version of the engine, such as `5.0.4`.
    pub engine_version: String,
    /// The server's own words, such as `LI-V5.0.4.1812 Firebird 5.0`.
    pub implementation: String,
    /// On-disk structure, such as `13.1`.
    pub ods: String,
    /// Negotiated protocol version; `None` in-process.
    pub protocol: Option<u16>,
    /// Cipher of the connection; `None` when it is not encrypted.
    pub cipher: Option<String>,
    /// Whether the connection is compressed.
    pub compressed: bool,
    /// Character set of the connection.
    pub connection_charset: String,
    /// Default character set of the database.
    pub database_charset: String,
    /// SQL dialect of the database.
    pub dialect: u8,
    /// Bytes per page.
    pub page_size: u32,
    /// Pages of the database.
    pub pages: u64,
    /// Whether the database refuses writes.
    pub read_only: bool,
    /// Whether writes wait for the disk.
    pub forced_writes: bool,
    /// Number of the attachment.
    pub attachment: u64,
    /// The user as the engine knows it.
    pub user: String,
    /// The role in use.
    pub role: String,
}

const ITEMS: [u8; 9] = [
    item::PAGE_SIZE,
    item::ALLOCATION,
    item::ATTACHMENT_ID,
    item::ODS_VERSION,
    item::ODS_MINOR_VERSION,
    item::FORCED_WRITES,
    item::DB_SQL_DIALECT,
    item::DB_READ_ONLY,
    item::FIREBIRD_VERSION,
];

/// Facts that only SQL returns.
const FACTS: &str = "SELECT CAST(RDB$GET_CONTEXT('SYSTEM', 'ENGINE_VERSION') AS VARCHAR(60)), \
    CAST(TRIM(RDB$CHARACTER_SET_NAME) AS VARCHAR(63)), \
    CAST(TRIM(CURRENT_USER) AS VARCHAR(63)), CAST(TRIM(CURRENT_ROLE) AS VARCHAR(63)) FROM RDB$DATABASE";

impl<B: Backend> Session<B> {
    /// Returns facts about the server, the database and the transport.
    pub(crate) async fn server_info(&mut self) -> Result<ServerInfo> {
        let data = self.backend.database_info(&ITEMS).await?;
        let transport = self.backend.transport();
        let mut info = ServerInfo {
            protocol: transport.protocol,
            cipher: transport.cipher.map(Into::into),
            compressed: transport.compressed,
            connection_charset: "UTF8".into(),
            ..ServerInfo::default()
        };
        let (mut major, mut minor) = (0, 0);
        for Item { code, value } in InfoReader::new(&data) {
            let number = firearrow_proto::api::info::integer(value).unwrap_or_default();
            match code {
                item::PAGE_SIZE => info.page_size = number as u32,
                item::ALLOCATION => info.pages = number as u64,
                item::ATTACHMENT_ID => info.attachment = number as u64,
                item::ODS_VERSION => major = number,
                item::ODS_MINOR_VERSION => minor = number,
                item::FORCED_WRITES => info.forced_writes = number != 0,
                item::DB_SQL_DIALECT => info.dialect = number as u8,
                item::DB_READ_ONLY => info.read_only = number != 0,
                item::FIREBIRD_VERSION => {
                    info.implementation = counted_strings(value).into_iter().next().unwrap_or_default();
                }
                _ => {}
            }
        }
        info.ods = format!("{major}.{minor}");
        let transaction = self.describing().await?;
        let facts = self.answer(FACTS, transaction, &Params::none()).await?;
        let facts = facts.ok_or_else(|| Error::new(Kind::Protocol, "RDB$DATABASE is empty"))?;
        let text = |column| Ok::<_, Error>(answer::text(&facts, column, 0)?.unwrap_or_default().to_owned());
        info.engine_version = text(0)?;
        info.database_charset = text(1)?;
        info.user = text(2)?;
        info.role = text(3)?;
        Ok(info)
    }
}
