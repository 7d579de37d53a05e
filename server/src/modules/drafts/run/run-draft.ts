import { setTimeout as pause } from 'node:timers/promises';
import type { Services } from '../../../platform/context.ts';
import { publishChange } from '../../../platform/events/publish-change.ts';
import { LeaseLost } from '../../../platform/leases/hold-lease.ts';
import type { LeasedWork } from '../../../platform/leases/lease-loop.ts';
import type { Lease } from '../../../platform/leases/leased-table.ts';
import { underLease } from '../../../platform/leases/under-lease.ts';
import { openRequests } from '../../chat/admit-request.ts';
import type { ChatParts } from '../../chat/chat-parts.ts';
import { type DraftRow, draftsTable } from '../drafts-table.ts';
import { type ChunkResult, keepResults, noteEnd, selectOpenChunks } from '../queries.ts';
import { selectQuestions } from '../rows/row-queries.ts';
import { askAboutChunk } from './ask-about-chunk.ts';
import { chargeDraft } from './charge-draft.ts';
import { distinctQuestions } from './distinct-questions.ts';

/** Chunks of a draft that are answered at once. */
const AT_ONCE = 4;
/** How often it is looked whether anybody asks by themselves. */
const LOOK_MS = 200;

type Columns = Parameters<(typeof draftsTable)['toRow']>[0];
type End = Pick<DraftRow, 'outcome' | 'error'>;

/** Drafts in the hands of this process: one at a time, and never while somebody waits for an answer here. */
export function draftWork(services: Services, chat: ChatParts): LeasedWork<Columns, DraftRow> {
  return {
    table: draftsTable,
    places: 1,
    work: (lease, signal) => runDraft(services, chat, lease, signal),
  };
}

/**
 * Has the chunks of a draft answered until all are, it was cancelled, its day is over or the model answers nothing. Rows and
 * what they cost are kept together under the lease: killed anywhere, what was not kept is asked again and was not charged.
 */
async function runDraft(
  services: Services,
  chat: ChatParts,
  lease: Lease<DraftRow>,
  signal: AbortSignal,
): Promise<void> {
  const { db, clock } = services;
  const questions = distinctQuestions(await selectQuestions(db, lease.id));
  for (;;) {
    while (openRequests() > 0) await pause(LOOK_MS, undefined, { signal });
    const draft = await underLease(db, draftsTable, lease, async (_, row) => row);
    if (!draft) throw new LeaseLost();
    const chunks = await selectOpenChunks(db, draft.id, AT_ONCE);
    const end = endBefore(draft, chunks.length, clock.now());
    if (end) return endDraft(services, lease, end);
    const answers = await Promise.all(
      chunks.map((chunk) => askAboutChunk(services, chat, { draft, chunk, signal })),
    );
    const results = answers.map((answer) => withoutDuplicates(answer, questions));
    const failed = failureOf(results);
    const kept = await underLease(db, draftsTable, lease, async (tx, row) => {
      await keepResults(tx, row, results);
      await publishChange(tx, row.user_id, { topic: 'draft', id: row.id });
      return true;
    });
    if (!kept) throw new LeaseLost();
    if (failed !== null) return endDraft(services, lease, { outcome: 'failed', error: failed });
  }
}

/** How a draft ends before anything more is asked; null where it goes on. */
function endBefore(draft: DraftRow, open: number, now: Date): End | null {
  const { error, cancelled_at: cancelledAt, expires_at: expiresAt } = draft;
  if (open === 0) return { outcome: 'completed', error };
  if (cancelledAt !== null) return { outcome: 'cancelled', error };
  if (expiresAt !== null && expiresAt <= now)
    return { outcome: 'failed', error: 'The documents were not read within a day. Start again with fewer.' };
  return null;
}

/** What the model was refused with, where none of the chunks got an answer: the next ones would not either. */
function failureOf(results: readonly ChunkResult[]): string | null {
  return results.every(({ error }) => error !== null) ? (results.at(-1)?.error ?? null) : null;
}

function withoutDuplicates(
  result: ChunkResult,
  questions: ReturnType<typeof distinctQuestions>,
): ChunkResult {
  const rows = result.rows.filter(({ question }) => questions.add(question));
  const duplicate = result.rows.length - rows.length;
  return { ...result, rows, dropped: { ...result.dropped, ...(duplicate > 0 && { duplicate }) } };
}

/** Charges what the answers have cost, and lets go of the rest of the hold. */
async function endDraft(services: Services, lease: Lease<DraftRow>, end: End): Promise<void> {
  const { db, clock } = services;
  const ended = await underLease(db, draftsTable, lease, async (tx, row) => {
    await noteEnd(tx, row.id, { ...end, ended_at: clock.now() });
    await chargeDraft(tx, row);
    await publishChange(tx, row.user_id, { topic: 'draft', id: row.id });
    return true;
  });
  if (!ended) throw new LeaseLost();
}
