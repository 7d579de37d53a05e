import { setTimeout as sleep } from 'node:timers/promises';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import {
  addToSealedSums,
  findChainHead,
  haveEarlierTransactionsEnded,
  insertSeals,
  listUnsealed,
  lockChain,
  readSealingFence,
} from './chain-queries.ts';
import { FIRST_HASH, hashTransfer } from './hash-transfer.ts';
import { checkSeals, findSeal } from './proof-queries.ts';

/** Sequence numbers per query. Some of them may be unused. */
const BATCH = 50_000n;

const SEAL_TRANSFERS_BATCH = 500;
const FENCE_TRIES = 100;
const FENCE_PAUSE_MS = 50;

/**
 * `broken` describes the first wrong seal; null if all are right. `skipped` is the number of unsealed
 * transfers.
 */
export type Chain = { broken: string | null; skipped: number };

type Break = { seq: bigint; what: string };

/**
 * Recomputes the seals up to `upTo`. All connections must have the same snapshot; they process parts of the
 * chain in parallel.
 */
export async function recomputeChain(
  connections: (Transaction | Promise<Transaction>)[],
  { upTo, batch = BATCH }: { upTo: bigint; batch?: bigint },
): Promise<Chain> {
  const breaks: Break[] = [];
  let skipped = 0;
  let begun = 0n;
  const work = async (connection: Transaction | Promise<Transaction>) => {
    const tx = await connection;
    // Parts start in order. If one is wrong, all earlier parts are finished or running, so the first wrong
    // seal will be found.
    while (begun < upTo && breaks.length === 0) {
      const part = { after: begun, upTo: begun + batch < upTo ? begun + batch : upTo };
      begun = part.upTo;
      const found = await recomputePart(tx, part);
      skipped += found.skipped;
      if (found.broken) breaks.push(found.broken);
    }
  };
  await Promise.all(connections.map(work));
  const [first] = breaks.toSorted((a, b) => (a.seq < b.seq ? -1 : 1));
  return { broken: first?.what ?? null, skipped };
}

async function recomputePart(
  tx: Transaction,
  { after, upTo }: { after: bigint; upTo: bigint },
): Promise<{ broken: Break | null; skipped: number }> {
  let place = after;
  let skipped = 0;
  while (place < upTo) {
    const found = await checkSeals(tx, { after: place, upTo });
    // The rest of the part is checked again after each suspect seal. Only the first check covers the whole
    // part, so only its count is right.
    if (place === after) skipped = found.skipped;
    if (found.suspect === null) break;
    const what = await judgeSeal(tx, found.suspect);
    if (what !== null) return { broken: { seq: found.suspect, what }, skipped };
    place = found.suspect;
  }
  return { broken: null, skipped };
}

/** Returns a description of a wrong seal; null if it is right. */
async function judgeSeal(tx: Transaction, seq: bigint): Promise<string | null> {
  const { hash, previous, transfer } = await findSeal(tx, seq);
  if (transfer === null) return `Transfer ${seq} was sealed and is missing`;
  if (hashTransfer(previous ?? FIRST_HASH, transfer) === hash) return null;
  return `The chain breaks at transfer ${seq}: it differs from what was sealed`;
}

/**
 * Seals new transfers in the order of their seq, and returns how many. A transfer gets its seq before its
 * transaction commits, so a higher seq may become visible before a lower one. The sealer therefore reads the
 * last seq, then gets a transaction id of its own, and waits until all transactions with a lower id have
 * ended. After that, no lower seq can appear. If an older transaction runs for too long, the next run seals
 * the transfers. Nothing else waits.
 */
export async function sealTransfers(db: Database): Promise<number> {
  const fence = await readSealingFence(db);
  for (let tries = 0; !(await haveEarlierTransactionsEnded(db, fence.xid)); tries += 1) {
    if (tries === FENCE_TRIES) return 0;
    await sleep(FENCE_PAUSE_MS);
  }
  let sealed = 0;
  for (;;) {
    const count = await sealBatch(db, fence.seq);
    sealed += count;
    if (count < SEAL_TRANSFERS_BATCH) return sealed;
  }
}

async function sealBatch(db: Database, seqMax: bigint): Promise<number> {
  return inTransaction(db, async (tx) => {
    await lockChain(tx);
    const head = await findChainHead(tx);
    const transfers = await listUnsealed(tx, { after: head?.seq ?? 0n, seqMax, limit: SEAL_TRANSFERS_BATCH });
    let hash = head?.hash ?? FIRST_HASH;
    const seals = transfers.map((transfer) => {
      hash = hashTransfer(hash, transfer);
      return { seq: transfer.seq, hash };
    });
    const last = seals.at(-1);
    if (last === undefined) return 0;
    await insertSeals(tx, seals);
    await addToSealedSums(tx, { after: head?.seq ?? 0n, upTo: last.seq });
    return seals.length;
  });
}
