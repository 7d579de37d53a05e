import { invalidParam } from '../../../platform/errors.ts';
import { decodeLz4 } from './lz4.ts';

export type Piece = { from: number; storedBytes: number; scheme: number; bytes: number };

const HEADER_BYTES = 8;

/** Clients split a file into chunks of at most 128 KiB. */
const PIECE_BYTES_MAX = 1024 * 1024;

/** Maximum number of chunks that clients put into a xorb. */
const PIECES_MAX = 8 * 1024;

/** Compression schemes of a chunk. */
const [AS_IT_IS, LZ4, GROUPED_LZ4] = [0, 1, 2];

/** Maximum overhead of compression for data that cannot be compressed. */
const excessOf = (bytes: number) => 1024 + bytes / 16;

/**
 * Yields the bytes of a xorb (https://huggingface.co/docs/xet/xorb), and appends the header of each chunk to
 * `headers`. Throws AppError('invalid_request') if the xorb is broken or larger than what clients create.
 */
export async function* collectHeaders(
  bytes: AsyncIterable<Buffer>,
  headers: Buffer[],
): AsyncGenerator<Buffer> {
  let partial = Buffer.alloc(0);
  let skip = 0;
  let isFooter = false;
  for await (const chunk of bytes) {
    for (let at = 0; at < chunk.length && !isFooter; ) {
      if (skip > 0) {
        const skipped = Math.min(skip, chunk.length - at);
        skip -= skipped;
        at += skipped;
        continue;
      }
      const part = chunk.subarray(at, at + HEADER_BYTES - partial.length);
      at += part.length;
      partial = Buffer.concat([partial, part]);
      // A chunk starts with 0, the footer with the letters XETBLOB.
      isFooter = partial[0] !== 0;
      if (isFooter || partial.length < HEADER_BYTES) continue;
      assertPiece(readHeader(partial, 0));
      if (headers.length === PIECES_MAX)
        throw invalidParam('xorb', `A xorb has at most ${PIECES_MAX} pieces`);
      headers.push(partial);
      skip = readHeader(partial, 0).storedBytes;
      partial = Buffer.alloc(0);
    }
    yield chunk;
  }
  if (skip > 0) throw invalidParam('xorb', 'The xorb is not whole');
}

/** Returns the positions of a xorb's chunks, from their headers. */
export function listPieces(headers: Buffer): Piece[] {
  let from = 0;
  return Array.from({ length: headers.length / HEADER_BYTES }, (_, index) => {
    const piece = { from: from + HEADER_BYTES, ...readHeader(headers, index * HEADER_BYTES) };
    from = piece.from + piece.storedBytes;
    return piece;
  });
}

function readHeader(headers: Buffer, at: number): Omit<Piece, 'from'> {
  return {
    storedBytes: headers.readUIntLE(at + 1, 3),
    scheme: headers.readUInt8(at + 4),
    bytes: headers.readUIntLE(at + 5, 3),
  };
}

function assertPiece({ storedBytes, bytes }: Omit<Piece, 'from'>): void {
  if (bytes === 0) throw invalidParam('xorb', 'A piece of the xorb has no bytes');
  if (bytes > PIECE_BYTES_MAX) throw invalidParam('xorb', 'A piece of the xorb has more than 1 MiB');
  if (storedBytes > bytes + excessOf(bytes))
    throw invalidParam('xorb', 'A piece of the xorb is larger compressed than it is');
}

/** Decompresses a chunk. Throws AppError('invalid_request'). */
export function readPiece(stored: Buffer, { storedBytes, scheme, bytes }: Piece): Buffer {
  if (scheme === AS_IT_IS && storedBytes === bytes) return stored;
  if (scheme === LZ4) return decodeLz4(stored, bytes);
  if (scheme === GROUPED_LZ4) return ungroup(decodeLz4(stored, bytes));
  throw invalidParam('xorb', 'The xorb has an unsupported compression');
}

/**
 * Restores the order of bytes that were grouped by position: first the first byte of every four, then the
 * second ones, and so on.
 */
function ungroup(grouped: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(grouped.length);
  let from = 0;
  for (let place = 0; place < 4; place += 1)
    for (let to = place; to < bytes.length; to += 4) {
      bytes[to] = grouped[from] ?? 0;
      from += 1;
    }
  return bytes;
}
