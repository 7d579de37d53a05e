import { crc32 } from 'node:zlib';
import type { pictureTypes } from '@bakehouse/contract/media';
import { withUserComment } from './exif.ts';
import { withWebpExif } from './webp-exif.ts';

const START_BYTES = 2;
const START_OF_SCAN = 0xda;
const APP0 = 0xe0;
const APP1 = 0xe1;
const EXIF = Buffer.from('Exif\0\0', 'latin1');

/** Maximum length of a JPEG segment. It includes the length field, but not the marker. */
const SEGMENT_BYTES_MAX = 0xffff;

const SIGNATURE_BYTES = 8;

/** Length, name and checksum of a PNG chunk. */
const FRAME_BYTES = 12;

const TEXT_CHUNKS = new Set(['tEXt', 'zTXt', 'iTXt']);

type Picture = { bytes: Buffer; mediaType: (typeof pictureTypes)[number]; width: number; height: number };

/**
 * Embeds the generation's parameters in a picture file, as the model servers do: as one text chunk per key in
 * a PNG, as a JSON object in EXIF's UserComment otherwise. Pixels and other metadata stay unchanged. Throws
 * Error if the EXIF is damaged or has no room.
 */
export function embedMetadata(picture: Picture, metadata: Record<string, string>): Buffer {
  const { bytes, mediaType } = picture;
  if (mediaType === 'image/png') return withPngTexts(bytes, metadata);
  const comment = asciiJson(metadata);
  return mediaType === 'image/jpeg' ? withJpegExif(bytes, comment) : withWebpExif(bytes, comment, picture);
}

/** Returns JSON in ASCII, because EXIF comments do not support UTF-8. */
function asciiJson(metadata: Record<string, string>): string {
  return JSON.stringify(metadata).replaceAll(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Returns the JPEG with this comment in its EXIF. Throws Error if the EXIF is damaged or has no room. */
function withJpegExif(bytes: Buffer, comment: string): Buffer {
  const { segments, end } = segmentsOf(bytes);
  const old = segments.find(isExif);
  const block = withUserComment(old ? old.subarray(4 + EXIF.length) : null, comment);
  const others = segments.filter((segment) => segment !== old);
  // JFIF's APP0 segment must stay first.
  const firstCount = others[0]?.[1] === APP0 ? 1 : 0;
  return Buffer.concat([
    bytes.subarray(0, START_BYTES),
    ...others.slice(0, firstCount),
    exifSegment(block),
    ...others.slice(firstCount),
    bytes.subarray(end),
  ]);
}

/** Returns the segments before the image data, and the end offset. */
function segmentsOf(bytes: Buffer): { segments: Buffer[]; end: number } {
  const segments: Buffer[] = [];
  let at = START_BYTES;
  while (bytes[at] === 0xff && bytes[at + 1] !== START_OF_SCAN) {
    // Markers may be preceded by fill bytes.
    if (bytes[at + 1] === 0xff) {
      at += 1;
      continue;
    }
    const end = at + 2 + bytes.readUInt16BE(at + 2);
    segments.push(bytes.subarray(at, end));
    at = end;
  }
  return { segments, end: at };
}

function isExif(segment: Buffer): boolean {
  return segment[1] === APP1 && segment.subarray(4, 4 + EXIF.length).equals(EXIF);
}

function exifSegment(block: Buffer): Buffer {
  const length = 2 + EXIF.length + block.length;
  if (length > SEGMENT_BYTES_MAX) throw new Error(`a JPEG has no room for ${length} bytes of EXIF`);
  const head = Buffer.from([0xff, APP1, length >> 8, length & 0xff]);
  return Buffer.concat([head, EXIF, block]);
}

/** Returns the PNG with these texts before its other chunks, replacing texts with the same keys. */
function withPngTexts(bytes: Buffer, texts: Record<string, string>): Buffer {
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

/** Returns a text chunk. Text outside ASCII needs iTXt, because not all programs decode tEXt as Latin-1. */
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
