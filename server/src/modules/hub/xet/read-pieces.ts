import { refused } from '../../../platform/errors.ts';
import { decodeLz4 } from './lz4.ts';

export type Piece = { from: number; storedBytes: number; scheme: number; bytes: number };

const HEADER_BYTES = 8;
/** What a client makes of a file: pieces of at most 128 KiB. */
const PIECE_BYTES_MAX = 1024 * 1024;
/** What clients put into a xorb at most. */
const PIECES_MAX = 8 * 1024;
/** How a piece is compressed. */
const [AS_IT_IS, LZ4, GROUPED_LZ4] = [0, 1, 2];

/** Where the pieces of a xorb lie in it (https://huggingface.co/docs/xet/xorb). Throws AppError('invalid_request'). Pure. */
export function listPieces(xorb: Buffer): Piece[] {
  const pieces: Piece[] = [];
  // What follows the pieces begins with the letters XETBLOB, and no piece with any but 0.
  for (let at = 0; at + HEADER_BYTES <= xorb.length && xorb[at] === 0; ) {
    const piece = {
      from: at + HEADER_BYTES,
      storedBytes: xorb.readUIntLE(at + 1, 3),
      scheme: xorb.readUInt8(at + 4),
      bytes: xorb.readUIntLE(at + 5, 3),
    };
    at = piece.from + piece.storedBytes;
    if (at > xorb.length || piece.bytes > PIECE_BYTES_MAX) throw refused('xorb', 'The xorb is not whole');
    if (piece.bytes === 0) throw refused('xorb', 'A piece of the xorb has no bytes');
    if (pieces.length === PIECES_MAX) throw refused('xorb', `A xorb has at most ${PIECES_MAX} pieces`);
    pieces.push(piece);
  }
  return pieces;
}

/** The bytes of a piece, of those that are stored. Throws AppError('invalid_request'). Pure. */
export function readPiece(stored: Buffer, { storedBytes, scheme, bytes }: Piece): Buffer {
  if (scheme === AS_IT_IS && storedBytes === bytes) return stored;
  if (scheme === LZ4) return decodeLz4(stored, bytes);
  if (scheme === GROUPED_LZ4) return ungroup(decodeLz4(stored, bytes));
  throw refused('xorb', 'The xorb is compressed in a way that is not known here');
}

/** All first bytes of four come first, then all second ones, and so on. */
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
