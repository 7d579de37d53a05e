import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { listTrackedRuns as endpoint } from '@bakehouse/contract/trackers';
import type { Context } from '../../platform/context.ts';
import { findOwnRun } from '../training/runs/find-own-run.ts';
import { selectTrackersOf } from './tracked-run-queries.ts';

/** Where a run of the caller's is logged. Throws AppError 'not_found'. */
export async function listTrackedRuns(
  { db, caller: { userId } }: Context,
  { params: { runId } }: InputOf<typeof endpoint>,
): Promise<ResponseOf<typeof endpoint>> {
  const { run } = await findOwnRun(db, { runId, userId });
  return { trackers: await selectTrackersOf(db, run.id) };
}
