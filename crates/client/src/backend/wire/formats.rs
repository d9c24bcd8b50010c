//! The message formats of statements: made once, and sent once where the server keeps them.

use super::Wire;
use super::write::misfit;
use crate::backend::link::Link;
use crate::backend::{LARGEST_KEPT_MESSAGE, Message};
use crate::error::Result;
use firearrow_proto::api::layout::RowLayout;
use firearrow_proto::wire::packed::PackedFormat;
use firearrow_proto::wire::packet::statement::Parameters;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The formats that the statements of a connection used last, by statement handle.
#[derive(Debug, Default)]
pub(super) struct Formats(FxHashMap<u16, Known>);

#[derive(Debug, Default)]
struct Known {
    input: Option<Arc<PackedFormat>>,
    /// Whether the server has seen the input format: it keeps the last one of each statement.
    is_told: bool,
    output: Option<Arc<PackedFormat>>,
}

impl Formats {
    pub(super) fn output(&mut self, id: u16, layout: &Arc<RowLayout>) -> Arc<PackedFormat> {
        of(&mut self.0.entry(id).or_default().output, layout).0
    }

    /// Returns the input format, and whether the server has it.
    fn input(&mut self, id: u16, layout: &Arc<RowLayout>) -> (Arc<PackedFormat>, bool) {
        let known = self.0.entry(id).or_default();
        let (format, is_same) = of(&mut known.input, layout);
        known.is_told &= is_same;
        (format, known.is_told)
    }

    /// The server has received the last input format of the statement.
    fn tell(&mut self, id: u16) {
        if let Some(known) = self.0.get_mut(&id) {
            known.is_told = true;
        }
    }

    /// Forgets a statement that was replaced, or executed with a format that bypassed this table.
    pub(super) fn forget(&mut self, id: u16) {
        self.0.remove(&id);
    }
}

/// Returns the format of this layout, and whether it is the last one.
fn of(last: &mut Option<Arc<PackedFormat>>, layout: &Arc<RowLayout>) -> (Arc<PackedFormat>, bool) {
    match last {
        Some(last) if Arc::ptr_eq(last.layout(), layout) => (Arc::clone(last), true),
        _ => (Arc::clone(last.insert(Arc::new(PackedFormat::new(Arc::clone(layout))))), false),
    }
}

/// Parameters ready to be sent; empty without any.
#[derive(Debug, Default)]
pub(super) struct Packed {
    format: Option<Arc<PackedFormat>>,
    message: Vec<u8>,
}

impl Packed {
    pub(super) fn parameters(&self) -> Parameters<'_> {
        let blr = self.format.as_ref().map_or(&[][..], |format| format.blr());
        Parameters { blr, message: &self.message }
    }
}

impl<L: Link> Wire<L> {
    /// Packs parameters of a statement; their format comes along unless the server has it.
    pub(super) fn pack(&mut self, id: u16, parameters: Option<Message<'_>>) -> Result<Packed> {
        let Some(message) = parameters.filter(|message| !message.layout.fields().is_empty()) else {
            return Ok(Packed::default());
        };
        let (format, is_told) = self.formats.input(id, message.layout);
        let mut packed = Packed { format: None, message: std::mem::take(&mut self.message) };
        packed.message.clear();
        format.pack(message.bytes, &mut packed.message).ok_or_else(misfit)?;
        packed.format = (!is_told).then_some(format);
        Ok(packed)
    }

    /// The execution with these parameters was sent.
    pub(super) fn packed_sent(&mut self, id: u16, packed: Packed) {
        if packed.message.is_empty() {
            return;
        }
        if packed.format.is_some() {
            self.formats.tell(id);
        }
        if packed.message.capacity() <= LARGEST_KEPT_MESSAGE {
            self.message = packed.message;
        }
    }
}
