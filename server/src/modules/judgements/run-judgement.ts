import type { Services } from '../../platform/context.ts';
import type { Transaction } from '../../platform/db/database.ts';
import { publishChange } from '../../platform/events/publish-change.ts';
import type { LeasedWork } from '../../platform/leases/lease-loop.ts';
import type { Lease } from '../../platform/leases/leased-table.ts';
import { answerChat } from '../batches/answer-chat.ts';
import { answerInTurns, failureOfAll } from '../batches/answer-in-turns.ts';
import type { ChatParts } from '../chat/chat-parts.ts';
import { listHeldOutAnswers } from '../training/held-out/list-held-out-answers.ts';
import { askJudge, type Pair } from './ask-judge.ts';
import { type JudgementRow, judgementsTable } from './judgements-table.ts';
import { type Kept, keepAnswers, noteEnd, type Order, selectOpen } from './queries.ts';
import { readVerdict } from './score.ts';

const LATE = 'The judge did not answer within a day. Go on, or choose another model.';

type Columns = Parameters<(typeof judgementsTable)['toRow']>[0];

/** Judgements in the hands of this process: one at a time, and never while somebody waits for an answer here. */
export function judgementWork(services: Services, chat: ChatParts): LeasedWork<Columns, JudgementRow> {
  return {
    table: judgementsTable,
    work: (lease, signal) => runJudgement(services, chat, lease, signal),
  };
}

/** Asks the judge about each pair in both orders, and keeps what it says. */
async function runJudgement(
  services: Services,
  chat: ChatParts,
  lease: Lease<JudgementRow>,
  signal: AbortSignal,
): Promise<void> {
  const { db } = services;
  const { run_id: runId } = lease.row;
  const pairs = (await listHeldOutAnswers(db, [runId])).get(runId)?.rows ?? [];
  const tell = (tx: Transaction, { user_id: userId }: JudgementRow) =>
    publishChange(tx, userId, { topic: 'run', id: runId });
  await answerInTurns(services, signal, {
    ...{ table: judgementsTable, lease },
    open: ({ id }, limit) => selectOpen(db, id, limit),
    ask: (judgement, orders) =>
      Promise.all(orders.map((order) => ask(services, chat, { judgement, pairs, order, signal }))),
    keep: async (tx, row, answers) => {
      await keepAnswers(tx, row, answers);
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

type Asked = { judgement: JudgementRow; pairs: readonly Pair[]; order: Order; signal: AbortSignal };

/** What the judge says to a pair in one order. An answer that was cut off has no last line. */
async function ask(
  services: Services,
  chat: ChatParts,
  { judgement, pairs, order, signal }: Asked,
): Promise<Kept> {
  const { row_number: row, tuned_first: tunedFirst } = order;
  const pair = pairs[row];
  if (!pair) throw new Error('A judgement is of rows that its run has');
  const answer = await answerChat(services, chat, {
    ...{ work: judgement, number: 2 * row + Number(tunedFirst), signal },
    body: askJudge(judgement, pair, tunedFirst),
  });
  const { error, costMicro } = answer;
  if (error !== null) return { ...order, text: null, verdict: null, error, costMicro };
  const verdict = answer.isWhole ? readVerdict(answer.text) : null;
  return { ...order, text: answer.text, verdict, error, costMicro };
}
