import { crc32 } from 'node:zlib';

const SIGNATURE_BYTES = 8;
/** Bytes of a chunk besides its data: length, name and checksum. */
const FRAME_BYTES = 12;
const TEXT_CHUNKS = new Set(['tEXt', 'zTXt', 'iTXt']);

/** Returns the PNG with these texts before its other chunks, replacing texts with the same keys. */
export function withPngTexts(bytes: Buffer, texts: Record<string, string>): Buffer {
  const [header, ...rest] = chunksOf(bytes);
  if (!header) throw new Error('the PNG has no chunks');
  const others = rest.filter((chunk) => !Object.hasOwn(texts, keyOf(chunk) ?? ''));
  const added = Object.entries(texts).map(([key, text]) => textChunk(key, text));
  return Buffer.concat([bytes.subarray(0, SIGNATURE_BYTES), header, ...added, ...others]);
}

function chunksOf(bytes: Buffer): Buffer[] {
  const chunks: Buffer[] = [];
  for (let at = SIGNATURE_BYTES; at + FRAME_BYTES <= bytes.length; ) {
    const end = at + FRAME_BYTES + bytes.readUInt32BE(at);
    chunks.push(bytes.subarray(at, end));
    at = end;
  }
  return chunks;
}

/** Returns the key of a text chunk; null for other chunks. */
function keyOf(chunk: Buffer): string | null {
  if (!TEXT_CHUNKS.has(chunk.toString('latin1', 4, 8))) return null;
  return chunk.toString('latin1', 8, chunk.indexOf(0, 8));
}

/** Uses tEXt for ASCII, else iTXt: not all programs decode tEXt as Latin-1. */
function textChunk(key: string, text: string): Buffer {
  if (/^[\t\n\r\x20-\x7e]*$/.test(text)) return chunkOf('tEXt', Buffer.from(`${key}\0${text}`));
  // Uncompressed, without language tag and translated key.
  return chunkOf('iTXt', Buffer.from(`${key}\0\0\0\0\0${text}`));
}

function chunkOf(name: string, data: Buffer): Buffer {
  const chunk = Buffer.alloc(FRAME_BYTES + data.length);
  chunk.writeUInt32BE(data.length, 0);
  chunk.write(name, 4, 'latin1');
  data.copy(chunk, 8);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, -4)), chunk.length - 4);
  return chunk;
}
