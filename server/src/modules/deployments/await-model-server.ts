import { setTimeout as pause } from 'node:timers/promises';
import { cutHostPaths } from '../../engine/machine/cut-host-paths.ts';
import type { Context } from '../../platform/context.ts';
import { AppError } from '../../platform/errors.ts';
import { findModel } from './find-model.ts';
import { openStarterServer } from './open-starter-server.ts';
import { findDeployment, type Way, type WayWorkload } from './queries.ts';
import type { ServingParts } from './serving-parts.ts';
import { chooseAdapter, type ServedBase } from './text-server-spec.ts';
import { wakeDeployment } from './wake-deployment.ts';

export type ModelServer = {
  baseUrl: string;
  engine: ServedBase['engine'];
  /** Fields of the request that choose the adapter. */
  selection: Record<string, unknown>;
};

/** Requests that may wait at once for models to wake: of one user, and in this process. */
const WAITING_MAX = { user: 16, all: 256 };
const WAIT_MS_MAX = 10 * 60_000;
/** How often a waiting request looks: at first often, because a warm start takes a second. */
const LOOK_EVERY_MS = { first: 50, later: 500 };
const FIRST_MS = 3_000;

const waiting = new Map<string, number>();

/** The model server at the end of the way, if it answers now. */
export function readyServer(way: Way): ModelServer | null {
  const { workload } = way;
  if (way.sleeping || !workload || !canAnswer(workload, way.adapter)) return null;
  const engine = way.engine as ServedBase['engine'];
  return {
    baseUrl: workload.base_url ?? '',
    engine,
    selection: chooseAdapter(engine, workload.adapter_names, way.adapter),
  };
}

function canAnswer(workload: WayWorkload, adapter: string | null): boolean {
  const up = workload.state === 'ready' || workload.state === 'degraded';
  return up && workload.base_url !== null && (adapter === null || workload.adapter_names.includes(adapter));
}

/**
 * Wakes the model at the end of the way and waits until it answers, telling `onWait` the phase each
 * time it changes. Throws AppError 'rate_limited' when too many wait, 'unavailable' when it cannot
 * come up, and what waking throws.
 */
export async function awaitModelServer(
  ctx: Context,
  parts: ServingParts,
  modelName: string,
  signal: AbortSignal,
  onWait: (phase: string) => void,
): Promise<ModelServer> {
  const leave = enter(ctx.caller.userId);
  try {
    const began = Date.now();
    let phase = '';
    let podId: string | null = null;
    let woken = false;
    for (;;) {
      const way = await findModel(ctx, parts, modelName).catch((error) => explainEnd(ctx, podId, error));
      const ready = readyServer(way);
      if (ready) return ready;
      podId = way.pod_id;
      if (needsWaking(way)) {
        // It was woken before, and has given up since.
        if (woken) throw unavailable(`${modelName} could not start`);
        await (podId ? wakeDeployment(ctx, podId) : openStarterServer(ctx, parts, modelName));
        woken = true;
      }
      const now = phaseOf(way);
      if (now !== phase) onWait(now);
      phase = now;
      const waited = Date.now() - began;
      if (waited > WAIT_MS_MAX) throw unavailable(`${modelName} did not wake in time`);
      await pause(waited < FIRST_MS ? LOOK_EVERY_MS.first : LOOK_EVERY_MS.later, undefined, { signal });
    }
  } finally {
    leave();
  }
}

/** A starter model whose server has failed has nothing to wait for either. */
function needsWaking(way: Way): boolean {
  return way.sleeping || (way.pod_id === null && !way.workload && !way.next_workload);
}

/** A deployment that has ended under a waiting request says why. */
async function explainEnd(ctx: Context, podId: string | null, error: unknown): Promise<never> {
  const ended = podId ? await findDeployment(ctx.db, { userId: ctx.caller.userId, podId }) : undefined;
  if (ended?.terminated_at)
    throw unavailable(`${ended.title} has ended. ${cutHostPaths(ctx.config, ended.reason)}`);
  throw error;
}

function unavailable(what: string): AppError {
  return new AppError('unavailable', { publicMessage: `${what}. Try again` });
}

/** Takes a place among those who wait. Returns how to leave it. */
function enter(userId: string): () => void {
  const all = [...waiting.values()].reduce((sum, count) => sum + count, 0);
  const own = waiting.get(userId) ?? 0;
  if (own >= WAITING_MAX.user || all >= WAITING_MAX.all) {
    throw new AppError('rate_limited', {
      publicMessage: 'Too many requests wait for models to wake. Try again shortly',
    });
  }
  waiting.set(userId, own + 1);
  return () => {
    const left = (waiting.get(userId) ?? 1) - 1;
    if (left === 0) waiting.delete(userId);
    else waiting.set(userId, left);
  };
}

/** What a waiting request waits for, in a word. */
function phaseOf(way: Way): string {
  const workload = way.next_workload ?? way.workload;
  return workload ? (workload.phase ?? workload.state) : 'queued';
}
