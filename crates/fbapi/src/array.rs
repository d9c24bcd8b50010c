//! Creating arrays.

use crate::abi::{IAttachment, Quad};
use crate::{Attachment, Error, MessageBuffer, Transaction};
use firearrow_proto::api::array::Slice;

impl Attachment {
    /// Creates an array and gives its id, which can be used once a row has taken it. What an id of a row refers to can
    /// be read as a BLOB.
    pub fn create_array(&self, transaction: &Transaction, slice: Slice<'_>) -> Result<u64, Error> {
        let too_long = || Error::Argument { what: "an array of 2 GiB or more".into() };
        let length = i32::try_from(slice.bytes().len()).map_err(|_| too_long())?;
        // Elements must be aligned, and the call takes them as if it might write to them.
        let mut elements = MessageBuffer::new(slice.bytes().len());
        elements.bytes_mut().copy_from_slice(slice.bytes());
        let sdl = slice.format().sdl();
        let transaction = transaction.raw()?;
        let mut id = Quad::default();
        // SAFETY: the transaction is alive, the id can be written to, the slice has the length given and ends all its
        // strings, and its description is well-formed; there are no parameters.
        self.call(|this, status| unsafe {
            IAttachment::put_slice(
                this,
                status,
                transaction,
                &mut id,
                sdl.len() as u32,
                sdl.as_ptr(),
                0,
                sdl.as_ptr(),
                length,
                elements.bytes_mut().as_mut_ptr(),
            )
        })?;
        Ok(id.id())
    }
}
