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
 * Chains the transfers that have no seal yet, in the order of their seq. Answers how many.
 *
 * A seq is given out before its transaction commits, so a higher one may be visible before a lower
 * one. The sealer therefore notes the last seq and then a transaction id of its own, and waits
 * until every transaction with a lower id has ended: from then on no seq up to the noted one can
 * still appear. While an older transaction goes on, sealing waits for the next run; nothing else does.
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
