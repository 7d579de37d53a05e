import { buffer } from 'node:stream/consumers';
import { findXorb } from '../../../modules/hub/stored-xorbs.ts';
import { fairQueue } from '../../../platform/concurrency/fair-queue.ts';
import type { Context } from '../../../platform/context.ts';
import { invalidParam } from '../../../platform/errors.ts';
import { readBlob } from '../../../platform/storage/read-blob.ts';
import { collectHeaders, listPieces, type Piece, readPiece } from './read-pieces.ts';
import type { Term } from './read-shard.ts';

type Xorb = { sha256: string; pieces: Piece[] };

/** Files go from one xorb to the next, and return to earlier xorbs with shared chunks. */
const LISTS_MAX = 16;
/** Stored bytes per read. */
const RANGE_BYTES_MAX = 4 * 1024 * 1024;
/** Reads of all users. A place is held for a single range, so a long file delays others only briefly. */
const reading = fairQueue(2, { perKey: 1 });

/** Returns a reader of chunks from the caller's xorbs of a session; reads only the bytes needed. */
export function xorbReader(
  ctx: Context,
  session: string,
  signal: AbortSignal,
): (term: Term) => AsyncGenerator<Buffer> {
  const { userId } = ctx.caller;
  const lists = new Map<string, Xorb>();

  async function openXorb(hash: string): Promise<Xorb> {
    const xorb = lists.get(hash) ?? (await findPieces(hash));
    lists.delete(hash);
    lists.set(hash, xorb);
    const [oldest] = lists.keys();
    if (lists.size > LISTS_MAX && oldest !== undefined) lists.delete(oldest);
    return xorb;
  }

  async function findPieces(hash: string): Promise<Xorb> {
    const row = await findXorb(ctx.db, { userId, session, hash });
    if (row === undefined) throw notSent(hash);
    const { sha256 } = row;
    return { sha256, pieces: listPieces(row.chunk_headers ?? (await readHeaders(hash, sha256))) };
  }

  /** Reads the headers of a xorb that was stored before headers were saved separately. */
  async function readHeaders(hash: string, sha256: string): Promise<Buffer> {
    const headers: Buffer[] = [];
    const passed = collectHeaders(await readBlob(ctx, { sha256, path: hash }), headers);
    while (!(await passed.next()).done);
    return Buffer.concat(headers);
  }

  /**
   * Yields the bytes of a term chunk by chunk. Throws AppError('invalid_request') if its xorb does not have
   * them.
   */
  return async function* readTerm({ xorb: hash, bytes, start, end }) {
    const { sha256, pieces } = await reading.run(userId, () => openXorb(hash), signal);
    const wanted = pieces.slice(start, end);
    if (wanted.length < end - start)
      throw invalidParam('shard', 'The shard names pieces that its xorb does not have');
    if (wanted.reduce((sum, piece) => sum + piece.bytes, 0) !== bytes)
      throw invalidParam('shard', 'The pieces that the shard names do not have the stated size');
    for (const group of inRanges(wanted)) {
      const [from, to] = [group[0]?.from ?? 0, endOf(group.at(-1))];
      const range = { start: from, end: to - 1 };
      const read = async () => buffer(await readBlob(ctx, { sha256, path: hash, range }));
      const stored = await reading.run(userId, read, signal);
      for (const piece of group)
        yield readPiece(stored.subarray(piece.from - from, endOf(piece) - from), piece);
    }
  };
}

/** Returns the error for a xorb that a shard names but that was not sent. */
export function notSent(hash: string): Error {
  return invalidParam('shard', `The shard names the xorb ${hash}, which was not sent`);
}

function endOf(piece: Piece | undefined): number {
  return piece ? piece.from + piece.storedBytes : 0;
}

function* inRanges(pieces: Piece[]): Generator<Piece[]> {
  let group: Piece[] = [];
  for (const piece of pieces) {
    if (group[0] && endOf(piece) - group[0].from > RANGE_BYTES_MAX) {
      yield group;
      group = [];
    }
    group.push(piece);
  }
  yield group;
}
