import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { formatBgl } from '@bakehouse/contract/money';
import {
  type cancelRun as cancelRunEndpoint,
  type getRun as getRunEndpoint,
  type getRunLogs as getRunLogsEndpoint,
  type getRunMetrics as getRunMetricsEndpoint,
  type listRuns as listRunsEndpoint,
  type Run,
  type RunFilter,
  runFilters,
  type runStats as runStatsEndpoint,
} from '@bakehouse/contract/runs';
import { cutHostPaths } from '../../../engine/host/cut-host-paths.ts';
import type { Workload } from '../../../engine/model/workload.ts';
import { selectLogLines, selectMetrics } from '../../../engine/reports/attempt-log.ts';
import { stopWorkload } from '../../../engine/request-workload.ts';
import { findWorkload, findWorkloads } from '../../../engine/workloads.ts';
import { recently } from '../../../platform/clock.ts';
import type { Context } from '../../../platform/context.ts';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { readSnapshot } from '../../../platform/db/read-snapshot.ts';
import { notFound, unknownCursor } from '../../../platform/errors.ts';
import { publishChange } from '../../../platform/events/publish-change.ts';
import { recordAudit } from '../../accounts/record-audit.ts';
import { cancelClone } from '../../hub/clone/clones.ts';
import { isAbandonedClone } from '../cloning/clone-queries.ts';
import { awaitsClone } from '../cloning/hub-base.ts';
import { findRun, type RunRow, selectLiveRunIds, selectRunSums, selectRuns } from '../queries.ts';
import { toRun } from './to-run.ts';

/** Returns a user's run with its workload. Throws AppError('not_found') for another user's run. */
export async function findOwnRun(
  db: Database | Transaction,
  { runId, userId }: { runId: string; userId: string },
): Promise<{ run: RunRow; workload: Workload }> {
  // Read the workload first. The end and the charge are committed together, so an ended workload has its
  // charge.
  const workload = await findWorkload(db, runId);
  const run = await findRun(db, runId);
  if (!run || !workload || run.userId !== userId) throw notFound('Run');
  return { run, workload };
}

/** Returns one run of the caller. */
export async function getRun(ctx: Context, { params }: InputOf<typeof getRunEndpoint>): Promise<Run> {
  const { run, workload } = await findOwnRun(ctx.db, { runId: params.runId, userId: ctx.caller.userId });
  return toRun(ctx.config, run, workload);
}

/** Returns the last lines of a run's log, oldest first. */
export async function getRunLogs(
  ctx: Context,
  { params, query }: InputOf<typeof getRunLogsEndpoint>,
): Promise<ResponseOf<typeof getRunLogsEndpoint>> {
  const { run } = await findOwnRun(ctx.db, { runId: params.runId, userId: ctx.caller.userId });
  const lines = await selectLogLines(ctx.db, run.id, query.limit);
  return {
    lines: lines.map(({ at, line }) => ({ at: at.toISOString(), line: cutHostPaths(ctx.config, line) })),
  };
}

/** Returns a run's metrics by step, optionally only those reported after a time. */
export async function getRunMetrics(
  ctx: Context,
  { params, query }: InputOf<typeof getRunMetricsEndpoint>,
): Promise<ResponseOf<typeof getRunMetricsEndpoint>> {
  const { run } = await findOwnRun(ctx.db, { runId: params.runId, userId: ctx.caller.userId });
  const after = query.after === undefined ? undefined : new Date(query.after);
  const points = await selectMetrics(ctx.db, run.id, { after });
  return { points: points.map(({ step, at, values }) => ({ step, at: at.toISOString(), values })) };
}

/** Returns the ids of a user's unfinished runs. */
export async function listLiveRuns(db: Database, userId: string): Promise<string[]> {
  return selectLiveRunIds(db, userId);
}

/**
 * Returns the caller's runs, newest first or by name; with `recent`, only those that are active or ended
 * recently. The cursor is the last id of the previous page.
 */
export async function listRuns(
  ctx: Context,
  { query }: { query: InputOf<typeof listRunsEndpoint>['query'] & { recent?: boolean } },
): Promise<ResponseOf<typeof listRunsEndpoint>> {
  const { model_id: modelAssetIds, kind, recent, search, state, sort, cursor, limit } = query;
  return readSnapshot(ctx.db, async (tx) => {
    if (cursor !== undefined && (await findRun(tx, cursor))?.userId !== ctx.caller.userId) {
      throw unknownCursor();
    }
    const found = await selectRuns(tx, {
      userId: ctx.caller.userId,
      kind,
      modelAssetIds,
      endedSince: recent ? recently(ctx.clock.now()) : undefined,
      search,
      state,
      sort,
      cursor,
      limit: limit + 1,
    });
    const runs = found.slice(0, limit);
    const workloads = await findWorkloads(
      tx,
      runs.map(({ id }) => id),
    );
    return {
      runs: runs.flatMap((run) => {
        const workload = workloads.get(run.id);
        return workload ? [toRun(ctx.config, run, workload)] : [];
      }),
      next_cursor: found.length > limit ? (runs.at(-1)?.id ?? null) : null,
    };
  });
}

/** Returns the caller's number of runs by final state, and their cost. */
export async function summarizeRuns(
  ctx: Context,
  { query }: InputOf<typeof runStatsEndpoint>,
): Promise<ResponseOf<typeof runStatsEndpoint>> {
  const sums = await selectRunSums(ctx.db, ctx.caller.userId, query.kind);
  const count = (name: RunFilter) => Number(sums.find(({ ended_as }) => ended_as === name)?.count ?? 0n);
  const total = (of: 'cost_micro' | 'held_micro') => sums.reduce((sum, row) => sum + row[of], 0n);
  return {
    ...(Object.fromEntries(runFilters.map((name) => [name, count(name)])) as Record<RunFilter, number>),
    cost: formatBgl(total('cost_micro')),
    held: formatBgl(total('held_micro')),
  };
}

/**
 * Asks a run to save its work and end. If no other run waits for the clone of its base model, the clone is
 * cancelled. Does nothing if the run has ended or was asked before.
 */
export async function cancelRun(ctx: Context, { params }: InputOf<typeof cancelRunEndpoint>): Promise<Run> {
  const { userId } = ctx.caller;
  const { runId } = params;
  const { run, workload } = await inTransaction(ctx.db, async (tx) => {
    const own = await findOwnRun(tx, { runId, userId });
    await stopRun(tx, ctx, own.run);
    // Read the run after the workload is locked, because it may have ended just before.
    return findOwnRun(tx, { runId, userId });
  });
  const cloneId = run.base.assetId;
  if (awaitsClone(run) && (await isAbandonedClone(ctx.db, cloneId))) await cancelClone(ctx, { id: cloneId });
  return toRun(ctx.config, run, workload);
}

/**
 * Step: asks a caller's run to save its work and end. Does nothing if the run has ended or was asked before.
 */
async function stopRun(
  tx: Transaction,
  ctx: Context,
  { id, modelAssetId }: Pick<RunRow, 'id' | 'modelAssetId'>,
): Promise<void> {
  if (!(await stopWorkload(tx, { id, reason: 'Cancelled', now: ctx.clock.now() }))) return;
  const { userId } = ctx.caller;
  const detail = { run_id: id, model_id: modelAssetId };
  await recordAudit(tx, { userId, action: 'run.cancelled', detail });
  await publishChange(tx, userId, { topic: 'run', id });
}
