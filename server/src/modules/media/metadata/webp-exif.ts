import { withUserComment } from './exif.ts';

/** RIFF header: `RIFF`, file length, `WEBP`. */
const HEAD_BYTES = 12;
const HAS_ALPHA = 0x10;
const HAS_EXIF = 0x08;
/** Some programs start the EXIF block with this prefix, as in a JPEG. */
const PREFIX = Buffer.from('Exif\0\0', 'latin1');

type Chunk = { name: string; data: Buffer };

/** Returns the WebP with this comment in its EXIF. Throws Error if the EXIF is damaged. */
export function withWebpExif(
  bytes: Buffer,
  comment: string,
  size: { width: number; height: number },
): Buffer {
  const [first, ...rest] = chunksOf(bytes);
  if (!first) throw new Error('the WebP has no chunks');
  const isExtended = first.name === 'VP8X';
  const head = Buffer.from(isExtended ? first.data : extendedHead(first, size));
  head.writeUInt8(head.readUInt8(0) | HAS_EXIF, 0);
  const chunks = isExtended ? rest : [first, ...rest];
  const old = chunks.find(({ name }) => name === 'EXIF');
  const exif = { name: 'EXIF', data: withUserComment(old ? withoutPrefix(old.data) : null, comment) };
  // XMP must be the last chunk.
  const others = chunks.filter((chunk) => chunk !== old);
  const { last = [], before = [] } = Object.groupBy(others, ({ name }) =>
    name === 'XMP ' ? 'last' : 'before',
  );
  return fileOf([{ name: 'VP8X', data: head }, ...before, exif, ...last]);
}

function chunksOf(bytes: Buffer): Chunk[] {
  const end = Math.min(bytes.length, 8 + bytes.readUInt32LE(4));
  const chunks: Chunk[] = [];
  for (let at = HEAD_BYTES; at + 8 <= end; ) {
    const length = bytes.readUInt32LE(at + 4);
    chunks.push({
      name: bytes.toString('latin1', at, at + 4),
      data: bytes.subarray(at + 8, at + 8 + length),
    });
    at += 8 + length + (length % 2);
  }
  return chunks;
}

/**
 * Returns the VP8X chunk that an extended file needs. It has the feature flags, and width and height minus
 * one.
 */
function extendedHead({ name, data }: Chunk, { width, height }: { width: number; height: number }): Buffer {
  const head = Buffer.alloc(10);
  const hasAlpha = name === 'VP8L' && ((data.readUInt32LE(1) >> 28) & 1) === 1;
  head.writeUInt8(hasAlpha ? HAS_ALPHA : 0, 0);
  head.writeUIntLE(width - 1, 4, 3);
  head.writeUIntLE(height - 1, 7, 3);
  return head;
}

function withoutPrefix(block: Buffer): Buffer {
  return block.subarray(0, PREFIX.length).equals(PREFIX) ? block.subarray(PREFIX.length) : block;
}

function fileOf(chunks: Chunk[]): Buffer {
  const body = Buffer.concat(
    chunks.flatMap(({ name, data }) => [headOf(name, data.length), data, Buffer.alloc(data.length % 2)]),
  );
  return Buffer.concat([headOf('RIFF', 4 + body.length), Buffer.from('WEBP', 'latin1'), body]);
}

function headOf(name: string, length: number): Buffer {
  const head = Buffer.alloc(8);
  head.write(name, 'latin1');
  head.writeUInt32LE(length, 4);
  return head;
}
