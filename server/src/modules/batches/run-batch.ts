import type { Services } from '../../platform/context.ts';
import type { Lease } from '../../platform/leases/leased-table.ts';
import type { ChatParts } from '../chat/chat-parts.ts';
import { answerInTurns } from './answer-in-turns.ts';
import { answerRequest } from './answer-request.ts';
import { prepareEnd } from './batches.ts';
import type { BatchRow, BulkRow } from './bulk-table.ts';
import {
  type BatchAnswer,
  type BatchRequest,
  saveAnswers,
  selectOpenRequests,
  setBatchStarted,
} from './queries.ts';

/** Answers requests of a batch for a turn, and writes its files at the end. */
export async function runBatch(
  services: Services,
  chat: ChatParts,
  { lease, signal }: { lease: Lease<BulkRow>; signal: AbortSignal },
): Promise<void> {
  const { db, clock } = services;
  await answerInTurns<BatchRow, BatchRequest, BatchAnswer>(services, {
    ...{ lease, signal },
    open: ({ id }, limit) => selectOpenRequests(db, id, limit),
    ask: async (batch, requests) => {
      if (!batch.begun_at) await setBatchStarted(db, batch.id, clock.now());
      return Promise.all(
        requests.map((request) => answerRequest(services, chat, { batch, request, signal })),
      );
    },
    keep: (tx, { id }, answers) => saveAnswers(tx, id, answers),
    prepareEnd: (batch, { outcome }) => prepareEnd(services, batch, outcome === 'expired'),
  });
}
