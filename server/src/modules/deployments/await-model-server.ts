import { setTimeout as pause } from 'node:timers/promises';
import { findWorkload } from '../../engine/queries.ts';
import type { Workload } from '../../engine/workload.ts';
import type { Context } from '../../platform/context.ts';
import { AppError } from '../../platform/errors.ts';
import { findDeployment, findTextServer } from './queries.ts';
import { adapterNames, reconcileTextServer } from './reconcile-text-server.ts';
import type { Route } from './resolve-model.ts';
import { chooseAdapter, type ServedBase } from './text-server-spec.ts';
import { wakeDeployment } from './wake-deployment.ts';

export type ModelServer = {
  baseUrl: string;
  /** Fields of the request that choose the adapter. */
  selection: Record<string, unknown>;
};

/** Requests that may wait at once for servers that wake; more would only time out together. */
const WAITING_MAX = 64;
const WAIT_MS_MAX = 10 * 60_000;
const LOOK_EVERY_MS = 25;

let waiting = 0;

/**
 * The model server that answers for the route. Where none does, wakes it and waits, telling
 * `onWait` the phase each time it changes. Throws AppError 'rate_limited' when too many wait,
 * 'unavailable' when it cannot come up, and what waking throws.
 */
export async function awaitModelServer(
  ctx: Context,
  route: Route,
  signal: AbortSignal,
  onWait: (phase: string) => void,
): Promise<ModelServer> {
  const ready = route.sleeping ? null : await findReady(ctx, route);
  if (ready) return ready;
  if (waiting >= WAITING_MAX) {
    throw new AppError('rate_limited', { publicMessage: 'Too many requests wait for this model to wake. Try again shortly' });
  }
  waiting += 1;
  try {
    await wake(ctx, route);
    return await waitUntilReady(ctx, route, signal, onWait);
  } finally {
    waiting -= 1;
  }
}

async function waitUntilReady(
  ctx: Context,
  route: Route,
  signal: AbortSignal,
  onWait: (phase: string) => void,
): Promise<ModelServer> {
  const deadline = Date.now() + WAIT_MS_MAX;
  let phase = '';
  while (Date.now() < deadline) {
    const ready = await findReady(ctx, route);
    if (ready) return ready;
    const now = await currentPhase(ctx, route);
    if (now !== phase) onWait(now);
    phase = now;
    await pause(LOOK_EVERY_MS, undefined, { signal });
  }
  throw new AppError('unavailable', { publicMessage: `${route.modelName} did not wake in time. Try again` });
}

async function wake(ctx: Context, route: Route): Promise<void> {
  if (route.podId) {
    if (route.sleeping) await wakeDeployment(ctx, route.podId);
    return;
  }
  await ctx.db.transaction().execute(async (tx) => {
    await tx
      .updateTable('text_servers')
      .set({ starter_requested_at: ctx.clock.now() })
      .where('id', '=', route.server.id)
      .execute();
    await reconcileTextServer(tx, ctx.clock, route.server.id);
  });
}

async function findReady(ctx: Context, route: Route): Promise<ModelServer | null> {
  const server = await findTextServer(ctx.db, route.server.id);
  const workload = server.workload_id ? await findWorkload(ctx.db, server.workload_id) : null;
  if (!workload || !canAnswer(workload, route.adapter)) return null;
  return {
    baseUrl: workload.baseUrl,
    selection: chooseAdapter(server.engine as ServedBase['engine'], adapterNames(workload), route.adapter),
  };
}

function canAnswer(workload: Workload, adapter: string | null): workload is Workload & { baseUrl: string } {
  const answers = workload.state === 'ready' || workload.state === 'degraded';
  return answers && workload.baseUrl !== null && (adapter === null || adapterNames(workload).includes(adapter));
}

/** What the waiting request waits for, in a word. Throws when it waits in vain. */
async function currentPhase(ctx: Context, route: Route): Promise<string> {
  if (route.podId) {
    const deployment = await findDeployment(ctx.db, { userId: ctx.caller.userId, podId: route.podId });
    if (!deployment || deployment.terminated_at) {
      throw new AppError('unavailable', {
        publicMessage: `${route.modelName} has ended. ${deployment?.reason ?? ''}`.trim(),
      });
    }
  }
  const server = await findTextServer(ctx.db, route.server.id);
  const id = server.next_workload_id ?? server.workload_id;
  const workload = id ? await findWorkload(ctx.db, id) : null;
  if (workload?.state === 'failed') {
    throw new AppError('unavailable', { publicMessage: `${route.modelName} could not start. ${workload.reason}` });
  }
  return workload ? (workload.phase ?? workload.state) : 'queued';
}
