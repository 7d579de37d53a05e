import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../../platform/db/database.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import {
  addToSealedSums,
  findChainHead,
  hasEveryoneBeforeEnded,
  insertSeals,
  listUnsealed,
  lockChain,
  takeFence,
} from './chain-queries.ts';
import { FIRST_HASH, hashTransfer } from './hash-transfer.ts';

const BATCH = 500;
const FENCE_TRIES = 100;
const FENCE_PAUSE_MS = 50;

/**
 * Seals new transfers in the order of their seq. Returns their number.
 *
 * A seq is assigned before its transaction commits, so a higher seq may become visible before a lower one.
 * The sealer therefore reads the last seq and then gets its own transaction id, and waits until every
 * transaction with a lower id has ended: after that, no lower seq can appear. If an older transaction is
 * still running, sealing waits for the next run; nothing else waits.
 */
export async function sealTransfers(db: Database): Promise<number> {
  const fence = await takeFence(db);
  for (let tries = 0; !(await hasEveryoneBeforeEnded(db, fence.xid)); tries += 1) {
    if (tries === FENCE_TRIES) return 0;
    await sleep(FENCE_PAUSE_MS);
  }
  let sealed = 0;
  for (;;) {
    const count = await sealBatch(db, fence.seq);
    sealed += count;
    if (count < BATCH) return sealed;
  }
}

async function sealBatch(db: Database, seqMax: bigint): Promise<number> {
  return inTransaction(db, async (tx) => {
    await lockChain(tx);
    const head = await findChainHead(tx);
    const transfers = await listUnsealed(tx, { after: head?.seq ?? 0n, seqMax, limit: BATCH });
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
