//! Where the messages of an Arrow file or stream are.
//!
//! Sizes in a damaged file are checked here, before a decoder allocates what
//! they ask for: a panic can be caught, running out of memory cannot.

use std::sync::Arc;

use arrow_ipc::convert::fb_to_schema;
use arrow_ipc::reader::read_footer_length;
use arrow_ipc::{Block, CompressionType, MessageHeader, MetadataVersion, root_as_footer, root_as_message};
use arrow_schema::SchemaRef;

use crate::input_reader::InputReader;

/// What an Arrow file holds, without its rows.
#[derive(Debug)]
pub(super) struct Contents {
    pub(super) schema: SchemaRef,
    pub(super) version: MetadataVersion,
    pub(super) messages: Vec<Message>,
    /// Whether the end is marked, which a stream may leave out.
    pub(super) has_end: bool,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Message {
    pub(super) offset: u64,
    /// Its description, with the length of that in front.
    pub(super) metadata_bytes: usize,
    pub(super) body_bytes: usize,
    pub(super) holds: Holds,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Holds {
    Dictionary,
    Rows(u64),
}

impl Message {
    pub(super) fn n_rows(&self) -> u64 {
        match self.holds {
            Holds::Dictionary => 0,
            Holds::Rows(n_rows) => n_rows,
        }
    }

    pub(super) fn end(&self) -> u64 {
        self.offset + (self.metadata_bytes + self.body_bytes) as u64
    }

    /// In the form a decoder expects; the offset does not matter.
    pub(super) fn block(&self) -> Block {
        Block::new(0, self.metadata_bytes as i32, self.body_bytes as i64)
    }
}

/// Length of the footer and the magic bytes at the end of a file.
const TRAILER_BYTES: usize = 10;

/// Arrow asks for less than this many rows in a batch. A larger number would
/// mean damage, and a column of nulls needs no bytes to make it seem real.
const MAX_BATCH_ROWS: u64 = i32::MAX as u64;

pub(super) fn of_file(reader: &InputReader) -> Result<Contents, String> {
    let cut_short = || "it has no footer; was it cut short?".to_owned();
    let end = reader.n_bytes();
    let trailer_start = end.checked_sub(TRAILER_BYTES as u64).ok_or_else(cut_short)?;
    let trailer: [u8; TRAILER_BYTES] =
        read(reader, trailer_start, TRAILER_BYTES)?.try_into().map_err(|_| cut_short())?;
    let footer_bytes = read_footer_length(trailer).map_err(|_| cut_short())?;
    let footer_start = trailer_start.checked_sub(footer_bytes as u64).ok_or_else(cut_short)?;
    let bytes = read(reader, footer_start, footer_bytes)?;
    let footer = root_as_footer(&bytes).map_err(|error| format!("its footer is damaged: {error}"))?;

    let schema = schema(footer.schema())?;
    let mut messages = Vec::new();
    let dictionaries = footer.dictionaries().into_iter().flatten();
    for block in dictionaries.chain(footer.recordBatches().into_iter().flatten()) {
        let offset = u64::try_from(block.offset()).map_err(|_| damaged())?;
        let metadata_bytes = usize::try_from(block.metaDataLength()).map_err(|_| damaged())?;
        let message = describe(reader, offset, metadata_bytes, Some(block.bodyLength()))?;
        messages.push(message.ok_or_else(damaged)?);
    }
    Ok(Contents { schema, version: footer.version(), messages, has_end: true })
}

pub(super) fn of_stream(reader: &InputReader) -> Result<Contents, String> {
    let end = reader.n_bytes();
    let mut position = 0;
    let mut first: Option<(SchemaRef, MetadataVersion)> = None;
    let mut messages = Vec::new();
    let mut has_end = false;
    // A stream may end with a message of length 0, or just end.
    while position < end {
        let start = read(reader, position, 4)?;
        let (prefix, length) =
            if start == [0xff; 4] { (8, read(reader, position + 4, 4)?) } else { (4, start) };
        let length = i32::from_le_bytes(length.try_into().map_err(|_| damaged())?);
        let length = usize::try_from(length).map_err(|_| damaged())?;
        if length == 0 {
            has_end = true;
            break;
        }
        if first.is_none() {
            let bytes = read(reader, position + prefix, length)?;
            let message = root_as_message(&bytes)
                .map_err(|error| format!("it does not begin with a schema: {error}"))?;
            first = Some((schema(message.header_as_schema())?, message.version()));
            let body_bytes = u64::try_from(message.bodyLength()).map_err(|_| damaged())?;
            position = (position + prefix + length as u64).checked_add(body_bytes).ok_or_else(damaged)?;
            continue;
        }
        let metadata_bytes = prefix as usize + length;
        let message = describe(reader, position, metadata_bytes, None)?.ok_or_else(damaged)?;
        position = message.end();
        messages.push(message);
    }
    let (schema, version) = first.ok_or_else(|| "it does not begin with a schema".to_owned())?;
    Ok(Contents { schema, version, messages, has_end })
}

fn schema(schema: Option<arrow_ipc::Schema<'_>>) -> Result<SchemaRef, String> {
    let schema = schema.ok_or_else(|| "it has no schema".to_owned())?;
    if !schema.endianness().equals_to_target_endianness() {
        return Err("its numbers are stored in the byte order of another machine".to_owned());
    }
    Ok(Arc::new(fb_to_schema(schema)))
}

/// Reads the description of a message. Its body must lie within the file.
fn describe(
    reader: &InputReader,
    offset: u64,
    metadata_bytes: usize,
    body_bytes: Option<i64>,
) -> Result<Option<Message>, String> {
    let metadata = read(reader, offset, metadata_bytes)?;
    let message = root_as_message(flatbuffer(&metadata)?).map_err(|error| error.to_string())?;
    let body_bytes = body_bytes.unwrap_or(message.bodyLength());
    let body_bytes = usize::try_from(body_bytes).map_err(|_| damaged())?;
    let end = offset
        .checked_add(metadata_bytes as u64)
        .and_then(|end| end.checked_add(body_bytes as u64))
        .ok_or_else(damaged)?;
    if end > reader.n_bytes() || i32::try_from(metadata_bytes).is_err() {
        return Err("it is cut short".to_owned());
    }
    let holds = match message.header_type() {
        MessageHeader::DictionaryBatch => Holds::Dictionary,
        MessageHeader::RecordBatch => {
            let n_rows = message.header_as_record_batch().map_or(-1, |batch| batch.length());
            Holds::Rows(u64::try_from(n_rows).ok().filter(|&n| n <= MAX_BATCH_ROWS).ok_or_else(damaged)?)
        }
        _ => return Ok(None),
    };
    Ok(Some(Message { offset, metadata_bytes, body_bytes, holds }))
}

/// Refuses a message whose compressed buffers claim to hold more than they can.
pub(super) fn check_sizes(message: &Message, bytes: &[u8]) -> Result<(), String> {
    let (metadata, body) = bytes.split_at(message.metadata_bytes);
    let buffers = Buffers::of(message, metadata)?;
    for (start, length) in buffers.places {
        let end = start.checked_add(length).ok_or_else(damaged)?;
        let buffer = body.get(start..end).ok_or_else(damaged)?;
        if let Some(codec) = buffers.codec
            && let Some((size, data)) = buffer.split_first_chunk::<SIZE_BYTES>()
            && claimed_size(*size).is_some_and(|size| size > largest_size(codec, data))
        {
            return Err("a buffer claims to be larger than it can be".to_owned());
        }
    }
    Ok(())
}

/// How large the body of a message is after it has been decompressed.
pub(super) fn decompressed_bytes(reader: &InputReader, message: &Message) -> Result<u64, String> {
    let buffers = Buffers::of(message, &read(reader, message.offset, message.metadata_bytes)?)?;
    if buffers.codec.is_none() {
        return Ok(message.body_bytes as u64);
    }
    let mut total = 0_u64;
    for (start, length) in buffers.places {
        if length >= SIZE_BYTES {
            let position = message.offset.saturating_add((message.metadata_bytes + start) as u64);
            let size = read(reader, position, SIZE_BYTES)?.try_into().map_err(|_| damaged())?;
            total = total.saturating_add(claimed_size(size).unwrap_or(length as u64));
        }
    }
    Ok(total)
}

/// Bytes in front of a compressed buffer that hold its size without compression.
const SIZE_BYTES: usize = 8;

/// A negative size means that the data are not compressed.
fn claimed_size(bytes: [u8; SIZE_BYTES]) -> Option<u64> {
    u64::try_from(i64::from_le_bytes(bytes)).ok()
}

/// Where the buffers of a message are within its body.
struct Buffers {
    codec: Option<CompressionType>,
    places: Vec<(usize, usize)>,
}

impl Buffers {
    fn of(message: &Message, metadata: &[u8]) -> Result<Buffers, String> {
        let header = root_as_message(flatbuffer(metadata)?).map_err(|error| error.to_string())?;
        let batch = match message.holds {
            Holds::Rows(_) => header.header_as_record_batch(),
            Holds::Dictionary => header.header_as_dictionary_batch().and_then(|dictionary| dictionary.data()),
        };
        let batch = batch.ok_or_else(damaged)?;
        let codec = batch.compression().map(|compression| compression.codec());
        let place = |buffer: &arrow_ipc::Buffer| {
            let start = usize::try_from(buffer.offset()).map_err(|_| damaged())?;
            Ok((start, usize::try_from(buffer.length()).map_err(|_| damaged())?))
        };
        let places = batch.buffers().into_iter().flatten().map(place).collect::<Result<_, String>>()?;
        Ok(Buffers { codec, places })
    }
}

/// The most that compressed data can stand for.
fn largest_size(codec: CompressionType, data: &[u8]) -> u64 {
    let n_bytes = data.len() as u64;
    if codec == CompressionType::ZSTD {
        if let Ok(Some(size)) = zstd::zstd_safe::get_frame_content_size(data) {
            return size.min(n_bytes.saturating_mul(ZSTD_RATIO));
        }
        n_bytes.saturating_mul(ZSTD_RATIO)
    } else {
        n_bytes.saturating_mul(LZ4_RATIO)
    }
}

/// A byte of LZ4 stands for at most 255 bytes.
const LZ4_RATIO: u64 = 256;

/// A block of Zstandard holds at most 128 KiB and takes at least four bytes.
const ZSTD_RATIO: u64 = 32 << 10;

/// A description without the marker and the length in front of it.
fn flatbuffer(metadata: &[u8]) -> Result<&[u8], String> {
    let prefix = if metadata.starts_with(&[0xff; 4]) { 8 } else { 4 };
    metadata.get(prefix..).ok_or_else(damaged)
}

fn read(reader: &InputReader, start: u64, length: usize) -> Result<Vec<u8>, String> {
    reader.bytes(start, length).map_err(|reason| match reason.kind() {
        std::io::ErrorKind::UnexpectedEof => "it is cut short".to_owned(),
        _ => reason.to_string(),
    })
}

fn damaged() -> String {
    "its contents contradict each other".to_owned()
}
