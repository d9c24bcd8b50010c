//! The engine's description of a prepared statement: its kind, columns and parameters.

use super::descriptor::{Descriptor, SqlType};
use super::info::{End, InfoReader, statement as item};
use super::layout::MAX_FIELDS;
use std::ops::AddAssign;

/// The kind of a statement (`isc_info_sql_stmt_type`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are Firebird's own")]
pub enum StatementKind {
    Select,
    Insert,
    Update,
    Delete,
    Ddl,
    ExecuteProcedure,
    StartTransaction,
    Commit,
    Rollback,
    SelectForUpdate,
    SetGenerator,
    Savepoint,
    #[default]
    Unknown,
}

impl StatementKind {
    /// Converts the API's number.
    pub fn from_number(number: i64) -> Self {
        match number {
            1 => Self::Select,
            2 => Self::Insert,
            3 => Self::Update,
            4 => Self::Delete,
            5 => Self::Ddl,
            8 => Self::ExecuteProcedure,
            9 => Self::StartTransaction,
            10 => Self::Commit,
            11 => Self::Rollback,
            12 => Self::SelectForUpdate,
            13 => Self::SetGenerator,
            14 => Self::Savepoint,
            _ => Self::Unknown,
        }
    }
}

/// The description of a prepared statement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatementInfo {
    /// Its kind.
    pub kind: StatementKind,
    /// Whether execution opens a cursor, from which rows are fetched. This decides how to execute, not the kind:
    /// RETURNING statements changed kind between Firebird 4 and 5.
    pub has_cursor: bool,
    /// Result columns.
    pub columns: Vec<Descriptor>,
    /// Parameters.
    pub parameters: Vec<Descriptor>,
}

/// What to ask of each column or parameter.
const VARIABLE_ITEMS: [u8; 12] = [
    item::DESCRIBE_VARS,
    item::SQLDA_SEQ,
    item::TYPE,
    item::SUB_TYPE,
    item::SCALE,
    item::LENGTH,
    item::FIELD,
    item::RELATION,
    item::OWNER,
    item::ALIAS,
    item::RELATION_ALIAS,
    item::DESCRIBE_END,
];

/// Returns the items that `op_prepare_statement` requests.
pub fn prepare_items() -> Vec<u8> {
    let mut items = vec![item::STMT_TYPE, item::STMT_FLAGS, item::BIND];
    items.extend(VARIABLE_ITEMS);
    items.push(item::SELECT);
    items.extend(VARIABLE_ITEMS);
    items
}

/// Most bytes of all names in one description. The longest name of an engine has 252.
const MAX_NAMES: usize = 16 << 20;

/// Length of the answer buffer; [`Describer::continuation`] continues a longer description.
pub const PREPARE_BUFFER: u32 = 65000;

/// An answer that is not a valid description.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid statement description: {0}")]
pub struct DescribeError(pub String);

/// Collects a description from one or more info buffers.
#[derive(Debug, Default)]
pub struct Describer {
    info: StatementInfo,
    parameters: Option<Section>,
    columns: Option<Section>,
    /// Whether an answer has been read before.
    begun: bool,
    /// Bytes of names so far.
    names: usize,
}

/// One of the two lists of variables: their number, and those read so far.
#[derive(Debug, Default)]
struct Section {
    total: Option<usize>,
    read: Vec<Descriptor>,
}

impl Section {
    fn is_complete(&self) -> bool {
        self.total == Some(self.read.len())
    }
}

impl Describer {
    /// Starts with nothing known.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads one answer. Returns whether the description is complete; otherwise, ask again with
    /// [`continuation`](Self::continuation).
    pub fn read(&mut self, bytes: &[u8]) -> Result<bool, DescribeError> {
        let before = self.progress();
        let mut reader = InfoReader::new(bytes);
        let mut current = None;
        let mut variable = Descriptor::default();
        loop {
            match reader.peek() {
                Some(item::BIND) => {
                    reader.skip_marker();
                    current = Some(self.parameters.get_or_insert_default());
                    continue;
                }
                Some(item::SELECT) => {
                    reader.skip_marker();
                    current = Some(self.columns.get_or_insert_default());
                    continue;
                }
                Some(item::DESCRIBE_END) => {
                    reader.skip_marker();
                    let section = current.as_mut().ok_or_else(|| invalid("a variable outside a list"))?;
                    section.read.push(std::mem::take(&mut variable));
                    if section.total.is_none_or(|total| section.read.len() > total) {
                        return Err(invalid("more variables than announced"));
                    }
                    continue;
                }
                _ => {}
            }
            let Some(answer) = reader.next() else { break };
            let number = answer.integer().unwrap_or_default();
            let text = || String::from_utf8_lossy(answer.value).into_owned();
            if matches!(answer.code, item::FIELD | item::RELATION | item::OWNER | item::ALIAS) {
                self.names += answer.value.len();
                if self.names > MAX_NAMES {
                    return Err(invalid(format!("names of more than {MAX_NAMES} bytes")));
                }
            }
            match answer.code {
                item::STMT_TYPE => self.info.kind = StatementKind::from_number(number),
                item::STMT_FLAGS => self.info.has_cursor = number & 1 != 0,
                item::DESCRIBE_VARS => {
                    let total = usize::try_from(number).ok().filter(|&total| total <= MAX_FIELDS);
                    let total = total.ok_or_else(|| invalid(format!("{number} variables")))?;
                    let section = current.as_mut().ok_or_else(|| invalid("a count outside a list"))?;
                    if section.total.is_some_and(|known| known != total) {
                        return Err(invalid("the number of variables changed"));
                    }
                    section.total = Some(total);
                }
                item::SQLDA_SEQ => {
                    let section = current.as_ref().ok_or_else(|| invalid("a variable outside a list"))?;
                    if number != section.read.len() as i64 + 1 {
                        return Err(invalid(format!("variable {number} out of order")));
                    }
                    variable = Descriptor::default();
                }
                item::TYPE => {
                    let number = number as u16;
                    variable.sql_type = SqlType(number & !1);
                    variable.nullable = number & 1 != 0;
                }
                item::SUB_TYPE => variable.sub_type = number as i32,
                item::SCALE => variable.scale = number as i32,
                item::LENGTH => variable.length = number as u32,
                item::FIELD => variable.field = text(),
                item::RELATION => variable.relation = text(),
                item::OWNER => variable.owner = text(),
                item::ALIAS => variable.alias = text(),
                _ => {} // the relation alias, items this client does not use, and isc_info_error
            }
        }
        let continued = std::mem::replace(&mut self.begun, true);
        // If the answer was cut within the parameters, the columns have not been requested yet.
        let unasked = self.columns.is_none() && self.parameters.as_ref().is_some_and(Section::is_complete);
        match reader.end() {
            Some(End::Malformed) => Err(invalid("an item longer than the answer")),
            _ if self.is_complete() => Ok(true),
            Some(End::Complete) | None if !unasked => Err(invalid("fewer variables than announced")),
            // The first answer may have ended before its first variable.
            _ if continued && self.progress() == before => {
                Err(invalid("a description that does not advance"))
            }
            _ => Ok(false),
        }
    }

    /// Variables read and lists finished so far.
    fn progress(&self) -> usize {
        let count = |section: &Section| section.read.len() + usize::from(section.is_complete());
        self.parameters.iter().chain(&self.columns).map(count).sum()
    }

    fn is_complete(&self) -> bool {
        let complete = |section: &Option<Section>| section.as_ref().is_some_and(Section::is_complete);
        complete(&self.parameters) && complete(&self.columns)
    }

    /// Returns the items for `op_info_sql` that continue a truncated description in the list that is incomplete.
    pub fn continuation(&self) -> Vec<u8> {
        let (marker, section) = match &self.parameters {
            Some(parameters) if parameters.is_complete() => (item::SELECT, &self.columns),
            parameters => (item::BIND, parameters),
        };
        let next = section.as_ref().map_or(0, |section| section.read.len()) as u16 + 1;
        let mut items = vec![item::SQLDA_START, 2];
        items.extend(next.to_le_bytes());
        items.push(marker);
        items.extend(VARIABLE_ITEMS);
        items
    }

    /// Returns the finished description.
    pub fn finish(mut self) -> StatementInfo {
        self.info.parameters = self.parameters.map(|section| section.read).unwrap_or_default();
        self.info.columns = self.columns.map(|section| section.read).unwrap_or_default();
        self.info
    }
}

fn invalid(what: impl Into<String>) -> DescribeError {
    DescribeError(what.into())
}

/// How many rows executions affected, as counted by the engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordCounts {
    /// Rows read.
    pub selected: u64,
    /// Rows inserted.
    pub inserted: u64,
    /// Rows updated.
    pub updated: u64,
    /// Rows deleted.
    pub deleted: u64,
}

impl RecordCounts {
    /// One inserted row.
    pub const ONE_INSERTED: Self = Self { selected: 0, inserted: 1, updated: 0, deleted: 0 };

    /// Reads the answer to item [`RECORDS`](item::RECORDS); `None` if the engine counts nothing for this kind of statement.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let records = InfoReader::new(bytes).find(|answer| answer.code == item::RECORDS)?;
        let mut counts = Self::default();
        for answer in InfoReader::new(records.value) {
            let count = match answer.code {
                item::REQ_SELECT_COUNT => &mut counts.selected,
                item::REQ_INSERT_COUNT => &mut counts.inserted,
                item::REQ_UPDATE_COUNT => &mut counts.updated,
                item::REQ_DELETE_COUNT => &mut counts.deleted,
                _ => continue,
            };
            *count = answer.integer().map_or(0, |rows| rows.max(0) as u64);
        }
        Some(counts)
    }

    /// Rows inserted, updated and deleted.
    pub fn affected(&self) -> u64 {
        self.inserted.saturating_add(self.updated).saturating_add(self.deleted)
    }
}

impl AddAssign for RecordCounts {
    fn add_assign(&mut self, other: Self) {
        self.selected = self.selected.saturating_add(other.selected);
        self.inserted = self.inserted.saturating_add(other.inserted);
        self.updated = self.updated.saturating_add(other.updated);
        self.deleted = self.deleted.saturating_add(other.deleted);
    }
}
