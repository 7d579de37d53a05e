import type { Judgement } from '@bakehouse/contract/judgements';
import type { Context } from '../../platform/context.ts';
import type { Database } from '../../platform/db/database.ts';
import { AppError } from '../../platform/errors.ts';
import { listHeldOutAnswers } from '../training/held-out/list-held-out-answers.ts';
import { findOwnRun } from '../training/runs/find-own-run.ts';
import type { Pair } from './ask-judge.ts';
import { selectAnswers, selectJudgements } from './queries.ts';
import { toJudgement } from './to-wire.ts';

/**
 * What can be judged of a run of the caller: the answers of both models to the rows that it has held out. Throws AppError
 * 'not_found', and 'conflict' where the run has none, or is not completed.
 */
export async function findPairs({ db, caller }: Context, runId: string): Promise<Pair[]> {
  const { workload } = await findOwnRun(db, { runId, userId: caller.userId });
  if (workload.state !== 'completed')
    throw new AppError('conflict', { publicMessage: 'The run is not completed. Wait until it is.' });
  const rows = (await listHeldOutAnswers(db, [runId])).get(runId)?.rows ?? [];
  if (rows.length === 0)
    throw new AppError('conflict', {
      publicMessage: 'The run has no answers of both models to held-out rows, so there is nothing to judge.',
    });
  return rows;
}

/** What a judge has said of a run of the caller; null where none was asked. Throws AppError 'not_found'. */
export async function findJudgement({ db, caller }: Context, runId: string): Promise<Judgement | null> {
  await findOwnRun(db, { runId, userId: caller.userId });
  return (await listJudgements(db, [runId])).get(runId) ?? null;
}

/** The same where one was asked. Throws AppError 'not_found'. */
export async function getOwnJudgement(ctx: Context, runId: string): Promise<Judgement> {
  const judgement = await findJudgement(ctx, runId);
  if (!judgement) throw noJudge();
  return judgement;
}

export function noJudge(): AppError {
  return new AppError('not_found', { publicMessage: 'No model was asked to judge this run', param: 'runId' });
}

/** The judgements of runs, by run; those that have none are missing. */
export async function listJudgements(db: Database, runIds: string[]): Promise<Map<string, Judgement>> {
  const pairs = await listHeldOutAnswers(db, runIds);
  const judgements = new Map<string, Judgement>();
  for (const row of await selectJudgements(db, runIds)) {
    const answers = await selectAnswers(db, row.id);
    judgements.set(row.run_id, toJudgement(row, pairs.get(row.run_id)?.rows ?? [], answers));
  }
  return judgements;
}
