import type { Services } from '../../platform/context.ts';
import type { LeasedWork } from '../../platform/leases/lease-loop.ts';
import type { ChatParts } from '../chat/chat-parts.ts';
import { answerInTurns } from './answer-in-turns.ts';
import { answerRequest } from './answer-request.ts';
import { prepareEnd } from './batches.ts';
import { type BatchRow, batchesTable } from './batches-table.ts';
import { saveAnswers, selectOpenRequests, setBatchStarted } from './queries.ts';

type Columns = Parameters<(typeof batchesTable)['toRow']>[0];

/** Answers the requests of batches in turns, and writes their files at the end. */
export function batchWork(services: Services, chat: ChatParts): LeasedWork<Columns, BatchRow> {
  const { db, clock } = services;
  return {
    table: batchesTable,
    work: (lease, signal) =>
      answerInTurns(services, signal, {
        ...{ table: batchesTable, lease },
        open: ({ id }, limit) => selectOpenRequests(db, id, limit),
        ask: async (batch, requests) => {
          if (!batch.begun_at) await setBatchStarted(db, batch.id, clock.now());
          return Promise.all(
            requests.map((request) => answerRequest(services, chat, { batch, request, signal })),
          );
        },
        keep: (tx, { id }, answers) => saveAnswers(tx, id, answers),
        prepareEnd: (batch, { outcome }) => prepareEnd(services, batch, outcome),
      }),
  };
}
