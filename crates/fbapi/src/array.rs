//! Creating arrays.

use crate::abi::{IAttachment, Quad};
use crate::{Attachment, Error, MessageBuffer, Transaction};
use firearrow_proto::api::array::Slice;

impl Attachment {
    /// Creates an array and returns its id, which becomes usable once a row refers to it. The id in a row can be opened
    /// as a BLOB to read the array.
    pub fn create_array(&self, transaction: &Transaction, slice: Slice<'_>) -> Result<u64, Error> {
        let too_long = || Error::Argument { what: "an array of 2 GiB or more".into() };
        let length = i32::try_from(slice.bytes().len()).map_err(|_| too_long())?;
        // The call needs aligned elements and takes a mutable pointer to them.
        let mut elements = MessageBuffer::new(slice.bytes().len());
        elements.bytes_mut().copy_from_slice(slice.bytes());
        let sdl = slice.format().sdl();
        let transaction = transaction.raw()?;
        let mut id = Quad::default();
        // SAFETY: the transaction is alive, the id is writable, the slice has the length given and terminates all its
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
