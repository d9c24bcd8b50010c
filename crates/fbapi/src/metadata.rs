//! The format of messages, as described by the engine or requested by us.

use crate::Error;
use crate::abi::{IMaster, IMessageMetadata, IMetadataBuilder, IStatus, Owned};
use crate::library::Library;
use crate::message::Shape;
use crate::status::{Status, text};
use firearrow_proto::api::descriptor::{Descriptor, SqlType};
use firearrow_proto::api::layout::{FieldKind, FieldLayout, RowLayout};
use std::ffi::c_char;

/// The format of the messages of a statement.
pub struct Metadata {
    interface: Owned<IMessageMetadata>,
    status: Status,
    count: u32,
    shape: Shape,
}

impl Metadata {
    pub(crate) fn new(library: &Library, interface: Owned<IMessageMetadata>) -> Result<Self, Error> {
        let status = Status::new(library)?;
        let raw = interface.raw();
        // SAFETY: the interface is alive.
        let count = status.call(|status| unsafe { IMessageMetadata::count(raw, status) })?;
        let mut shape = Shape { length: 0, alignment: 2 };
        if count > 0 {
            // SAFETY: the interface is alive.
            shape.length =
                status.call(|status| unsafe { IMessageMetadata::message_length(raw, status) })? as usize;
        }
        // 3.0 does not report the alignment, so it is derived from the types for every release.
        for index in 0..count {
            // SAFETY: the interface is alive and has this field.
            let sql_type = status.call(|status| unsafe { IMessageMetadata::sql_type(raw, status, index) })?;
            shape.alignment = shape.alignment.max(alignment(plain(sql_type)));
        }
        Ok(Self { interface, status, count, shape })
    }

    /// Creates the format that `layout` describes, so that the engine converts values to it or from it.
    ///
    /// Fails if the engine would lay the message out differently.
    pub fn for_layout(library: &Library, layout: &RowLayout) -> Result<Self, Error> {
        let fields = layout.fields();
        let status = Status::new(library)?;
        // SAFETY: the master interface lives forever; the reference returned is ours.
        let builder = unsafe {
            let raw = status
                .call(|status| IMaster::metadata_builder(library.master(), status, fields.len() as u32))?;
            Owned::new(raw)?
        };
        for (index, field) in fields.iter().enumerate() {
            describe(&builder, &status, index as u32, field)?;
        }
        // SAFETY: the builder is alive; the reference returned is ours.
        let interface =
            unsafe { Owned::new(status.call(|status| IMetadataBuilder::metadata(builder.raw(), status))?)? };
        let metadata = Self::new(library, interface)?;
        metadata.verify(layout)?;
        Ok(metadata)
    }

    /// Number of fields.
    pub fn count(&self) -> usize {
        self.count as usize
    }

    /// Length of one message: the end of its last null indicator.
    pub fn message_length(&self) -> usize {
        self.shape.length
    }

    /// Distance between messages in an array.
    pub fn stride(&self) -> usize {
        self.shape.stride()
    }

    /// Offset of a value in the message.
    pub fn offset(&self, index: usize) -> Result<usize, Error> {
        self.number(index, IMessageMetadata::offset).map(|offset| offset as usize)
    }

    /// Offset of a value's 16-bit null indicator.
    pub fn null_offset(&self, index: usize) -> Result<usize, Error> {
        self.number(index, IMessageMetadata::null_offset).map(|offset| offset as usize)
    }

    /// The fields, described as on the wire: the character set is in the sub type of text and in the scale
    /// of text BLOBs.
    pub fn descriptors(&self) -> Result<Vec<Descriptor>, Error> {
        (0..self.count()).map(|index| self.descriptor(index)).collect()
    }

    fn descriptor(&self, index: usize) -> Result<Descriptor, Error> {
        let sql_type = plain(self.number(index, IMessageMetadata::sql_type)?);
        let charset = self.number(index, IMessageMetadata::charset)? as i32;
        let mut descriptor = Descriptor {
            sql_type,
            nullable: self.number(index, IMessageMetadata::is_nullable)? != 0,
            sub_type: self.number(index, IMessageMetadata::sub_type)?,
            scale: self.number(index, IMessageMetadata::scale)?,
            length: self.number(index, IMessageMetadata::length)?,
            field: self.name(index, IMessageMetadata::field)?,
            relation: self.name(index, IMessageMetadata::relation)?,
            owner: self.name(index, IMessageMetadata::owner)?,
            alias: self.name(index, IMessageMetadata::alias)?,
            array: None,
        };
        match sql_type {
            SqlType::TEXT | SqlType::VARYING => descriptor.sub_type = charset,
            SqlType::BLOB if descriptor.sub_type == 1 => descriptor.scale = charset,
            _ => {}
        }
        Ok(descriptor)
    }

    pub(crate) fn raw(&self) -> *mut IMessageMetadata {
        self.interface.raw()
    }

    pub(crate) fn interface(&self) -> &Owned<IMessageMetadata> {
        &self.interface
    }

    pub(crate) fn shape(&self) -> Shape {
        self.shape
    }

    /// Checks that the library uses the same stride. Needs Firebird 4.0.
    pub(crate) fn verify_stride(&self) -> Result<(), Error> {
        let (found, needed) = (self.interface.version(), 4);
        if found < needed {
            return Err(Error::Interface { name: "IMessageMetadata", found, needed });
        }
        // SAFETY: the interface is alive and, as just checked, new enough.
        let library =
            self.status.call(|status| unsafe { IMessageMetadata::aligned_length(self.raw(), status) })?;
        if library as usize == self.stride() {
            return Ok(());
        }
        Err(Error::Layout { what: format!("the stride is {library}, expected {}", self.stride()) })
    }

    fn verify(&self, layout: &RowLayout) -> Result<(), Error> {
        for (index, field) in layout.fields().iter().enumerate() {
            let engine = (self.offset(index)?, self.null_offset(index)?);
            let ours = (field.offset, field.null_offset);
            if engine != ours {
                let what = format!(
                    "field {} ({:?}) has its value and null indicator at {engine:?}, expected {ours:?}",
                    index + 1,
                    field.kind
                );
                return Err(Error::Layout { what });
            }
        }
        if layout.fields().is_empty() {
            return Ok(());
        }
        if self.message_length() != layout.native_length() || self.stride() != layout.native_stride() {
            let engine = (self.message_length(), self.stride());
            let ours = (layout.native_length(), layout.native_stride());
            return Err(Error::Layout {
                what: format!("length and stride are {engine:?}, expected {ours:?}"),
            });
        }
        Ok(())
    }

    fn number<T>(
        &self,
        index: usize,
        getter: unsafe fn(*mut IMessageMetadata, *mut IStatus, u32) -> T,
    ) -> Result<T, Error> {
        let index = self.checked(index)?;
        // SAFETY: the interface is alive and has this field.
        self.status.call(|status| unsafe { getter(self.raw(), status, index) })
    }

    fn name(
        &self,
        index: usize,
        getter: unsafe fn(*mut IMessageMetadata, *mut IStatus, u32) -> *const c_char,
    ) -> Result<String, Error> {
        let name = self.number(index, getter)?;
        // SAFETY: the string lives as long as the interface does.
        Ok(unsafe { text(name) })
    }

    fn checked(&self, index: usize) -> Result<u32, Error> {
        if index < self.count() {
            Ok(index as u32)
        } else {
            Err(Error::Argument { what: format!("no field {index}: the message has {}", self.count) })
        }
    }
}

impl std::fmt::Debug for Metadata {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Metadata").field("count", &self.count).field("shape", &self.shape).finish()
    }
}

/// The type without the nullable bit, which metadata from a builder retain.
fn plain(sql_type: u32) -> SqlType {
    SqlType(sql_type as u16 & !1)
}

fn alignment(sql_type: SqlType) -> usize {
    match sql_type {
        SqlType::TEXT | SqlType::BOOLEAN | SqlType::NULL => 1,
        SqlType::VARYING | SqlType::SHORT => 2,
        SqlType::DOUBLE
        | SqlType::D_FLOAT
        | SqlType::INT64
        | SqlType::DEC16
        | SqlType::DEC34
        | SqlType::INT128 => 8,
        _ => 4,
    }
}

/// Describes one field to the builder.
fn describe(
    builder: &Owned<IMetadataBuilder>,
    status: &Status,
    index: u32,
    field: &FieldLayout,
) -> Result<(), Error> {
    let raw = builder.raw();
    // Leave the nullable bit clear: a bulk operation recognises BLOBs only by the plain type, and the indicator
    // expresses NULL whatever the type.
    let sql_type = u32::from(field.kind.sql_type().0);
    let length = value_length(field.kind);
    // SAFETY: the builder is alive and has this field. The length is always set, because setting the type does not
    // change an existing one.
    unsafe {
        status.call(|status| IMetadataBuilder::set_type(raw, status, index, sql_type))?;
        status
            .call(|status| IMetadataBuilder::set_sub_type(raw, status, index, i32::from(field.sub_type)))?;
        status.call(|status| IMetadataBuilder::set_length(raw, status, index, length))?;
        status.call(|status| IMetadataBuilder::set_charset(raw, status, index, u32::from(field.charset)))?;
        status.call(|status| IMetadataBuilder::set_scale(raw, status, index, i32::from(field.scale)))
    }
}

/// The length as `getLength` counts it: without the count word of VARYING.
fn value_length(kind: FieldKind) -> u32 {
    match kind {
        FieldKind::Text(length) | FieldKind::Varying(length) => u32::from(length),
        other => other.native().1 as u32,
    }
}
