import { buffer } from 'node:stream/consumers';
import { findXorb } from '../../../modules/hub/stored-xorbs.ts';
import { fairQueue } from '../../../platform/concurrency/fair-queue.ts';
import type { Context } from '../../../platform/context.ts';
import { invalidParam } from '../../../platform/errors.ts';
import { readBlob } from '../../../platform/storage/read-blob.ts';
import { collectHeaders, listPieces, type Piece, readPiece } from './read-pieces.ts';
import type { Term } from './read-shard.ts';

type Xorb = { sha256: string; pieces: Piece[] };

/**
 * Number of recently used xorbs whose chunk lists are in memory. Most files use one xorb after the other, and
 * return to earlier ones for shared chunks.
 */
const LISTS_MAX = 16;
/** Number of stored bytes per read. */
const RANGE_BYTES_MAX = 4 * 1024 * 1024;
/** Limits concurrent reads of all users. Each reads one range, so a long file delays others only briefly. */
const reading = fairQueue(2, { perKey: 1 });

/** Returns a function that reads chunks of a session's xorbs, and no more bytes than needed. */
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

  /** Reads the chunk headers of a xorb that an earlier version stored, which did not save them separately. */
  async function readHeaders(hash: string, sha256: string): Promise<Buffer> {
    const headers: Buffer[] = [];
    const passed = collectHeaders(await readBlob(ctx, { sha256, path: hash }), headers);
    while (!(await passed.next()).done);
    return Buffer.concat(headers);
  }

  /**
   * Yields the bytes of a term chunk by chunk. Throws AppError('invalid_request') if its xorb does not
   * contain these chunks.
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

/** Returns the error for a xorb that a shard names but the client has not sent. */
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
