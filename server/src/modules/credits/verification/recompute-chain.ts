import type { Transaction } from '../../../platform/db/database.ts';
import { FIRST_HASH, hashTransfer } from './hash-transfer.ts';
import { checkSeals, findSeal } from './proof-queries.ts';

/** Sequence numbers per query; some may be unused. */
const BATCH = 50_000n;

/** A description of the first wrong seal, null if all are right, and the number of unsealed transfers. */
export type Chain = { broken: string | null; skipped: number };

type Break = { seq: bigint; what: string };

/** Recomputes the seals up to a seq. The connections share a snapshot and process parts in parallel. */
export async function recomputeChain(
  connections: (Transaction | Promise<Transaction>)[],
  { upTo, batch = BATCH }: { upTo: bigint; batch?: bigint },
): Promise<Chain> {
  const breaks: Break[] = [];
  let skipped = 0;
  let begun = 0n;
  const work = async (connection: Transaction | Promise<Transaction>) => {
    const tx = await connection;
    // Parts are started in order: when a break is found, all earlier parts are done or running.
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
    // The rest after a suspect seal is checked again: only the first check counts the whole part.
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
  if (transfer === null) return `Transfer ${seq} was sealed and is gone`;
  if (hashTransfer(previous ?? FIRST_HASH, transfer) === hash) return null;
  return `The chain breaks at transfer ${seq}: it is not what was sealed`;
}
