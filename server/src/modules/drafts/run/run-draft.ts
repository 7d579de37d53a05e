import type { Services } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { storableJson } from '../../../platform/db/storable-text.ts';
import { publishChange } from '../../../platform/events/publish-change.ts';
import type { LeasedWork } from '../../../platform/leases/lease-loop.ts';
import type { Lease } from '../../../platform/leases/leased-table.ts';
import { answerChat } from '../../batches/answer-chat.ts';
import { answerInTurns, failureOfAll } from '../../batches/answer-in-turns.ts';
import type { ChatParts } from '../../chat/chat-parts.ts';
import { type DraftRow, draftsTable } from '../drafts-table.ts';
import { type ChunkResult, noteEnd, type OpenChunk, saveChunkResults, selectOpenChunks } from '../queries.ts';
import { selectQuestions } from '../rows/row-queries.ts';
import { rowsRequest } from '../start/quote-draft.ts';
import { distinctQuestions } from './distinct-questions.ts';
import { rowsOfAnswer } from './rows-of-answer.ts';

const LATE = 'The documents were not read within a day. Start again with fewer.';

type Columns = Parameters<(typeof draftsTable)['toRow']>[0];

/** Returns the work that answers the chunks of drafts, with fair turns. */
export function draftWork(services: Services, chat: ChatParts): LeasedWork<Columns, DraftRow> {
  return {
    table: draftsTable,
    work: (lease, signal) => runDraft(services, chat, lease, signal),
  };
}

/** Answers the chunks of a draft and saves the rows. */
async function runDraft(
  services: Services,
  chat: ChatParts,
  lease: Lease<DraftRow>,
  signal: AbortSignal,
): Promise<void> {
  const { db } = services;
  let known: ReturnType<typeof distinctQuestions> | null = null;
  const tell = (tx: Transaction, row: DraftRow) =>
    publishChange(tx, row.user_id, { topic: 'draft', id: row.id });
  await answerInTurns(services, signal, {
    ...{ table: draftsTable, lease },
    open: (draft, limit) => selectOpenChunks(db, draft.id, limit),
    ask: async (draft, chunks) => {
      const answers = chunks.map((chunk) => requestChunkRows(services, chat, { draft, chunk, signal }));
      const questions = known ?? distinctQuestions(await selectQuestions(db, lease.id));
      known = questions;
      return (await Promise.all(answers)).map((answer) => withoutDuplicates(answer, questions));
    },
    keep: async (tx, row, results) => {
      await saveChunkResults(tx, row, results);
      await tell(tx, row);
    },
    failure: failureOfAll,
    prepareEnd:
      async (row, { outcome, error }) =>
      async (tx, endedAt) => {
        const end = outcome === 'expired' ? { outcome: 'failed' as const, error: LATE } : { outcome, error };
        await noteEnd(tx, row.id, { ...end, ended_at: endedAt });
        await tell(tx, row);
      },
  });
}

function withoutDuplicates(
  result: ChunkResult,
  questions: ReturnType<typeof distinctQuestions>,
): ChunkResult {
  const rows = result.rows.filter(({ question }) => questions.add(question));
  const duplicate = result.rows.length - rows.length;
  return { ...result, rows, dropped: { ...result.dropped, ...(duplicate > 0 && { duplicate }) } };
}

/** Requests the model's rows for a chunk. Throws the errors of `answerChat`. */
async function requestChunkRows(
  services: Services,
  chat: ChatParts,
  { draft, chunk, signal }: { draft: DraftRow; chunk: OpenChunk; signal: AbortSignal },
): Promise<ChunkResult> {
  if (draft.settings === null) throw new Error('Running draft has no settings');
  const { number, text } = chunk;
  const body = rowsRequest(draft.settings, text);
  const answer = await answerChat(services, chat, { work: draft, number, body, signal });
  const { error, costMicro } = answer;
  if (error !== null) return { number, rows: [], dropped: {}, error, costMicro };
  return { number, ...storableJson(rowsOfAnswer(answer.text, answer.isWhole)), error, costMicro };
}
