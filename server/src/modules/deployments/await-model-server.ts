import { cutHostPaths } from '../../engine/machine/cut-host-paths.ts';
import type { Context } from '../../platform/context.ts';
import { AppError } from '../../platform/errors.ts';
import { findModel } from './find-model.ts';
import type { Upstream, UpstreamWorkload } from './gateway-queries.ts';
import { openStarterServer } from './open-starter-server.ts';
import { findDeployment } from './queries.ts';
import type { ServingParts } from './serving-parts.ts';
import { chooseAdapter, type ServedBase } from './text-server-spec.ts';
import { wakeDeployment } from './wake-deployment.ts';
import { watchTextServer } from './watch-text-server.ts';

export type ModelServer = {
  baseUrl: string;
  key: string | null;
  engine: ServedBase['engine'];
  /** Fields of the request that choose the adapter. */
  selection: Record<string, unknown>;
};

const WAIT_MS_MAX = 10 * 60_000;

/** The model server that answers for the upstream now, if one does. */
export function readyServer(upstream: Upstream): ModelServer | null {
  const { workload } = upstream;
  if (upstream.sleeping || !workload || !canAnswer(workload, upstream.adapter)) return null;
  return {
    baseUrl: workload.base_url ?? '',
    key: workload.server_key,
    engine: upstream.engine,
    selection: chooseAdapter(upstream.engine, workload.adapter_names, upstream.adapter),
  };
}

function canAnswer(workload: UpstreamWorkload, adapter: string | null): boolean {
  const up = workload.state === 'ready' || workload.state === 'degraded';
  return up && workload.base_url !== null && (adapter === null || workload.adapter_names.includes(adapter));
}

type Wait = {
  /** As it was when the request came. */
  upstream: Upstream;
  modelName: string;
  signal: AbortSignal;
  onWait: (phase: string) => void;
};

/**
 * Wakes the model and waits until it answers, telling `onWait` the phase each time it changes. Looks
 * when its text server is said to have changed. Throws AppError 'unavailable' when it cannot come
 * up, and what waking throws.
 */
export async function awaitModelServer(
  ctx: Context,
  parts: ServingParts,
  { upstream, modelName, signal, onWait }: Wait,
): Promise<ModelServer> {
  const began = Date.now();
  let phase = '';
  let podId: string | null = null;
  let woken = false;
  let watch = watchTextServer(ctx.events, upstream.server_id);
  try {
    for (;;) {
      const found = await findModel(ctx, parts, modelName).catch((error) => explainEnd(ctx, podId, error));
      const ready = readyServer(found);
      if (ready) return ready;
      podId = found.pod_id;
      if (needsWaking(found)) {
        // It was woken before, and has given up since.
        if (woken) throw unavailable(`${modelName} could not start`);
        await (podId ? wakeDeployment(ctx, podId) : openStarterServer(ctx, parts, modelName));
        woken = true;
        continue;
      }
      if (found.server_id !== watch.serverId) {
        watch.stop();
        watch = watchTextServer(ctx.events, found.server_id);
        continue;
      }
      const now = phaseOf(found);
      if (now !== phase) onWait(now);
      phase = now;
      if (Date.now() - began > WAIT_MS_MAX) throw unavailable(`${modelName} did not wake in time`);
      await watch.change(signal);
    }
  } finally {
    watch.stop();
  }
}

/** A starter model whose server has failed has nothing to wait for either. */
function needsWaking(upstream: Upstream): boolean {
  return upstream.sleeping || (upstream.pod_id === null && !upstream.workload && !upstream.next_workload);
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

/** What a waiting request waits for, in a word. */
function phaseOf(upstream: Upstream): string {
  const workload = upstream.next_workload ?? upstream.workload;
  return workload ? (workload.phase ?? workload.state) : 'queued';
}
