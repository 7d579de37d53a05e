import type { Judgement } from '@bakehouse/contract/judgements';
import { formatBgl, smallerAmount } from '@bakehouse/contract/money';
import type { Pair } from './ask-judge.ts';
import type { JudgementRow } from './judgements-table.ts';
import type { AnswerRow } from './queries.ts';
import { outcomeOf, scoreOf, whoseVerdict } from './score.ts';

/** A judgement as the wire has it. Pure. */
export function toJudgement(
  row: JudgementRow,
  pairs: readonly Pair[],
  answers: readonly AnswerRow[],
): Judgement {
  const byRow = Map.groupBy(answers, ({ row_number: number }) => number);
  const rows = pairs.map((pair, number) => {
    const judge = byRow.get(number) ?? [];
    return { ...pair, outcome: outcomeOf(pair, judge), judge: judge.map(toAnswer) };
  });
  const failed = answers.filter(({ error }) => error !== null).length;
  return {
    run_id: row.run_id,
    status: row.outcome ?? (row.cancelled_at ? 'cancelling' : 'running'),
    settings: { model: row.model, prompt: row.prompt },
    requests: answers.length,
    requests_done: answers.filter(({ text }) => text !== null).length + failed,
    requests_failed: failed,
    ...scoreOf(rows.map(({ outcome }) => outcome)),
    rows,
    error: row.error,
    held: formatBgl(row.ended_at === null ? row.held_micro : 0n),
    cost_so_far: formatBgl(row.charged_micro + smallerAmount(row.cost_micro, row.held_micro)),
    started_at: row.started_at.toISOString(),
    ended_at: row.ended_at?.toISOString() ?? null,
  };
}

function toAnswer(answer: AnswerRow): Judgement['rows'][number]['judge'][number] {
  const { tuned_first, text, error } = answer;
  return { tuned_first, text, verdict: whoseVerdict(answer), error };
}
