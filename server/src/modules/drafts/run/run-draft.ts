import type { Services } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { storableJson } from '../../../platform/db/storable-text.ts';
import { publishChange } from '../../../platform/events/publish-change.ts';
import type { Lease } from '../../../platform/leases/leased-table.ts';
import { answerChat } from '../../batches/answer-chat.ts';
import { answerInTurns } from '../../batches/answer-in-turns.ts';
import type { BulkRow, DraftRow } from '../../batches/bulk-table.ts';
import type { ChatParts } from '../../chat/chat-parts.ts';
import { type ChunkResult, type OpenChunk, saveChunkResults, selectOpenChunks } from '../queries.ts';
import { selectQuestions } from '../rows/row-queries.ts';
import { rowsRequest } from '../start/quote-draft.ts';
import { distinctQuestions } from './distinct-questions.ts';
import { rowsOfAnswer } from './rows-of-answer.ts';

const LATE = 'The documents were not read within a day. Start again with fewer.';

/** Answers chunks of a draft for a turn, and saves the rows. */
export async function runDraft(
  services: Services,
  chat: ChatParts,
  { lease, signal }: { lease: Lease<BulkRow>; signal: AbortSignal },
): Promise<void> {
  const { db } = services;
  let known: ReturnType<typeof distinctQuestions> | null = null;
  const tell = (tx: Transaction, row: DraftRow) =>
    publishChange(tx, row.user_id, { topic: 'draft', id: row.id });
  await answerInTurns<DraftRow, OpenChunk, ChunkResult>(services, {
    ...{ lease, signal },
    open: (draft, limit) => selectOpenChunks(db, draft.id, limit),
    ask: async (draft, chunks) => {
      const answers = chunks.map((chunk) => requestChunkRows(services, chat, { draft, chunk, signal }));
      const questions = known ?? distinctQuestions(await selectQuestions(db, lease.id));
      known = questions;
      return (await Promise.all(answers)).map((answer) => withoutDuplicates(answer, questions));
    },
    keep: async (tx, row, results) => {
      await tell(tx, row);
      return saveChunkResults(tx, row, results);
    },
    // If all answers failed, further requests would fail too.
    failure: (results) =>
      results.every(({ error }) => error !== null) ? (results.at(-1)?.error ?? null) : null,
    prepareEnd:
      async (row, { outcome }) =>
      async (tx) => {
        await tell(tx, row);
        return outcome === 'expired' ? { outcome: 'failed', error: LATE } : {};
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
