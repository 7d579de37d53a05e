import type { DropReason } from '@bakehouse/contract/drafts';
import * as z from 'zod';
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

const LATE = 'The documents were not read within a day. Start again with fewer.';

/** Sends open chunks of a leased draft to the model and saves the rows, until its turn on the model ends. */
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
    // If every request failed, stop: further requests would fail too.
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

/** Two questions count as equal if they have at least this share of their words in common. */
const SAME_FROM = 0.8;

/**
 * Recognises near-duplicate questions by their common words (Jaccard index). `add` stores a new question and
 * returns true; for a duplicate it returns false.
 */
export function distinctQuestions(known: readonly string[]) {
  /** Number of words per question, and questions per word. */
  const sizes: number[] = [];
  const having = new Map<string, number[]>();
  const remember = (words: ReadonlySet<string>) => {
    for (const word of words) {
      const ids = having.get(word);
      if (ids) ids.push(sizes.length);
      else having.set(word, [sizes.length]);
    }
    sizes.push(words.size);
  };
  const isKnown = (words: ReadonlySet<string>): boolean => {
    const shared = new Uint32Array(sizes.length);
    for (const word of words) for (const id of having.get(word) ?? []) shared[id] = (shared[id] ?? 0) + 1;
    return sizes.some((size, id) => {
      const both = shared[id] ?? 0;
      return both >= SAME_FROM * (words.size + size - both);
    });
  };
  const add = (question: string): boolean => {
    const words = wordsOf(question);
    if (isKnown(words)) return false;
    remember(words);
    return true;
  };
  for (const question of known) remember(wordsOf(question));
  return { add };
}

function wordsOf(text: string): Set<string> {
  const lower = text.toLowerCase().normalize('NFKC');
  const words = lower.match(/[\p{L}\p{M}\p{N}]+/gu);
  // A question without words, e.g. '???', counts as one word.
  return new Set(words ?? [lower]);
}

export type Found = {
  rows: { question: string; answer: string }[];
  dropped: Partial<Record<DropReason, number>>;
};

/** Dots and dashes alone, which models copy from a template, are not content. */
const SAYS = /[\p{L}\p{N}]/u;

const row = z.object({ question: z.string(), answer: z.string() });

/**
 * Returns the rows in an answer: every JSON object with a question and an answer, wherever it is, because
 * models omit the outer object or add text around it. Counts what is left out: blank rows, a row that the end
 * of the answer cuts off, and an answer without rows.
 */
export function rowsOfAnswer(answer: string, isWhole: boolean): Found {
  const found: Found = { rows: [], dropped: {} };
  const { objects, isOpen } = innermostObjects(answer);
  let read = 0;
  for (const text of objects) {
    const { success, data } = row.safeParse(parse(text));
    if (!success) continue;
    read += 1;
    const [question, said] = [data.question.trim(), data.answer.trim()];
    if (!SAYS.test(question) || !SAYS.test(said)) drop(found, 'empty');
    else found.rows.push({ question, answer: said });
  }
  if (!isWhole && isOpen) drop(found, 'cut_off');
  else if (read === 0) drop(found, 'unreadable');
  return found;
}

function drop({ dropped }: Found, reason: DropReason): void {
  dropped[reason] = (dropped[reason] ?? 0) + 1;
}

/**
 * Returns the innermost `{…}` spans. Braces inside strings are ignored; an unclosed string ends at the line
 * end.
 */
function innermostObjects(text: string): { objects: string[]; isOpen: boolean } {
  const objects: string[] = [];
  let begin: number | null = null;
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (inString) {
      if (character === '\\') at += 1;
      else if (character === '"' || character === '\n') inString = false;
    } else if (character === '{') {
      begin = at;
      depth += 1;
    } else if (character === '}') {
      if (begin !== null) objects.push(text.slice(begin, at + 1));
      begin = null;
      depth = Math.max(0, depth - 1);
    } else if (character === '"') inString = depth > 0;
  }
  return { objects, isOpen: depth > 0 };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
