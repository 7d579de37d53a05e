import { setTimeout as pause } from 'node:timers/promises';
import type { Services } from '../../platform/context.ts';
import { LeaseLost } from '../../platform/leases/hold-lease.ts';
import type { LeasedWork } from '../../platform/leases/lease-loop.ts';
import type { Lease } from '../../platform/leases/leased-table.ts';
import { underLease } from '../../platform/leases/under-lease.ts';
import { openRequests } from '../chat/admit-request.ts';
import type { ChatParts } from '../chat/chat-parts.ts';
import { answerRequest } from './answer-request.ts';
import { type BatchRow, batchesTable } from './batches-table.ts';
import { endBatch } from './end-batch.ts';
import { keepAnswers, noteBegun, selectOpenRequests } from './queries.ts';

/** Requests of a batch that are answered at once. */
const AT_ONCE = 4;
/** How often it is looked whether anybody asks by themselves. */
const LOOK_MS = 200;

type Columns = Parameters<(typeof batchesTable)['toRow']>[0];

/** Batches in the hands of this process: one at a time, and never while somebody waits for an answer here. */
export function batchWork(services: Services, chat: ChatParts): LeasedWork<Columns, BatchRow> {
  return {
    table: batchesTable,
    places: 1,
    work: (lease, signal) => runBatch(services, chat, lease, signal),
  };
}

/**
 * Answers the requests of a batch until all are, it was cancelled or its day is over, and ends it. An answer and its cost
 * are kept together under the lease: killed anywhere, what was not kept is asked again and was not charged.
 */
async function runBatch(
  services: Services,
  chat: ChatParts,
  lease: Lease<BatchRow>,
  signal: AbortSignal,
): Promise<void> {
  const { db, clock } = services;
  for (;;) {
    while (openRequests() > 0) await pause(LOOK_MS, undefined, { signal });
    const batch = await underLease(db, batchesTable, lease, async (tx, row) => {
      await noteBegun(tx, row.id, clock.now());
      return row;
    });
    if (!batch) throw new LeaseLost();
    const isOver = batch.cancelled_at !== null || batch.expires_at <= clock.now();
    const requests = isOver ? [] : await selectOpenRequests(db, batch.id, AT_ONCE);
    if (requests.length === 0) return endBatch(services, lease, batch);
    const answers = await Promise.all(
      requests.map((request) => answerRequest(services, chat, { batch, request, signal })),
    );
    const kept = await underLease(db, batchesTable, lease, async (tx, row) => {
      await keepAnswers(tx, row.id, answers);
      return true;
    });
    if (!kept) throw new LeaseLost();
  }
}
