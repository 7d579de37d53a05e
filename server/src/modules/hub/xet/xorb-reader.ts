import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import type { Context } from '../../../platform/context.ts';
import { refused } from '../../../platform/errors.ts';
import { readBlob } from '../../../platform/storage/read-blob.ts';
import { withBlobFile } from '../../../platform/storage/with-blob-file.ts';
import type { ShardFile } from './parse-shard.ts';
import { listPieces, type Piece, readPiece } from './read-pieces.ts';
import { findXorb } from './xorb-queries.ts';

type Term = ShardFile['terms'][number];
type Xorb = { hash: string; sha256: string; pieces: Piece[] };

/** Files go from one xorb to the next, and back to others whose pieces they have as well. */
const LISTS_MAX = 16;

/**
 * Reads pieces of the xorbs that the caller has sent in a session. The xorb that was opened last is in memory; of some before
 * it where their pieces lie, so that only what is wanted is read of them.
 */
export function xorbReader(ctx: Context, session: string): (term: Term) => AsyncGenerator<Buffer> {
  const lists = new Map<string, Xorb>();
  let atHand: { hash: string; bytes: Buffer } | null = null;

  async function openXorb(hash: string): Promise<Xorb> {
    const known = lists.get(hash);
    const xorb = known ?? (await readXorb(hash));
    lists.delete(hash);
    lists.set(hash, xorb);
    const [oldest] = lists.keys();
    if (lists.size > LISTS_MAX && oldest !== undefined) lists.delete(oldest);
    return xorb;
  }

  async function readXorb(hash: string): Promise<Xorb> {
    const sha256 = await findXorb(ctx.db, { userId: ctx.caller.userId, session, hash });
    if (sha256 === undefined) throw refused('shard', `The shard names the xorb ${hash}, which was not sent`);
    // Of two at once none is needed.
    atHand = null;
    const bytes = await withBlobFile(ctx, { sha256, path: hash }, (localPath) => readFile(localPath));
    atHand = { hash, bytes };
    return { hash, sha256, pieces: listPieces(bytes) };
  }

  async function readRange({ hash, sha256 }: Xorb, start: number, end: number): Promise<Buffer> {
    if (atHand?.hash === hash) return atHand.bytes.subarray(start, end);
    return buffer(await readBlob(ctx, { sha256, path: hash, range: { start, end: end - 1 } }));
  }

  /** The bytes of a term, piece by piece. Throws AppError('invalid_request') where its xorb has not what it names. */
  return async function* readTerm({ xorb: hash, bytes, start, end }) {
    const xorb = await openXorb(hash);
    const wanted = xorb.pieces.slice(start, end);
    const [first, last] = [wanted[0], wanted.at(-1)];
    if (!first || !last || wanted.length < end - start)
      throw refused('shard', 'The shard names pieces that its xorb has not');
    if (wanted.reduce((sum, piece) => sum + piece.bytes, 0) !== bytes)
      throw refused('shard', 'The pieces that the shard names are not of the size that it says');
    const stored = await readRange(xorb, first.from, last.from + last.storedBytes);
    for (const piece of wanted) {
      const from = piece.from - first.from;
      yield readPiece(stored.subarray(from, from + piece.storedBytes), piece);
    }
  };
}
