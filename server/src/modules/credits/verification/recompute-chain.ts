import type { Transaction } from '../../../platform/db/database.ts';
import { FIRST_HASH, hashTransfer } from './hash-transfer.ts';
import { checkSeals, findSeal } from './proof-queries.ts';

/** How many numbers of transfers one query recomputes; some of them may never have been used. */
const BATCH = 50_000n;

/** What is wrong with the first wrong seal, null where all are right; and how many transfers have none. */
export type Chain = { broken: string | null; skipped: number };

type Break = { seq: bigint; what: string };

/**
 * Recomputes the seals up to a seq. Each of the connections, which share a snapshot, takes the next part of the chain as
 * soon as it is free.
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
    // Parts are taken in their order: once a break is found, all parts before it are done or in work.
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
    // What follows a suspect seal is looked at again: only the first look counts the whole part.
    if (place === after) skipped = found.skipped;
    if (found.suspect === null) break;
    const what = await judgeSeal(tx, found.suspect);
    if (what !== null) return { broken: { seq: found.suspect, what }, skipped };
    place = found.suspect;
  }
  return { broken: null, skipped };
}

/** What is wrong with the seal; null where it is right after all. */
async function judgeSeal(tx: Transaction, seq: bigint): Promise<string | null> {
  const { hash, previous, transfer } = await findSeal(tx, seq);
  if (transfer === null) return `Transfer ${seq} was sealed and is gone`;
  if (hashTransfer(previous ?? FIRST_HASH, transfer) === hash) return null;
  return `The chain breaks at transfer ${seq}: it is not what was sealed`;
}
