import { cutHostPaths } from '../../../../engine/machine/cut-host-paths.ts';
import type { Context } from '../../../../platform/context.ts';
import { AppError } from '../../../../platform/errors.ts';
import { chooseAdapter, type TextEngine } from '../../kinds/text-spec.ts';
import { findDeployment } from '../../queries.ts';
import { openStarterServer } from '../../servers/open-starter-server.ts';
import { watchModelServer } from '../../servers/watch-model-server.ts';
import type { ServingParts } from '../../serving-parts.ts';
import { wakeDeployment } from '../../wake-deployment.ts';
import type { Upstream, UpstreamWorkload } from '../gateway-queries.ts';
import { findModel } from './find-model.ts';

export type ModelServer = {
  id: string;
  /** It answers for one deployment only. */
  isOwn: boolean;
  baseUrl: string;
  key: string | null;
  engine: TextEngine;
  /** Fields of the request that choose the adapter. */
  selection: Record<string, unknown>;
};

const WAIT_MS_MAX = 10 * 60_000;

/** The model servers that answer for the upstream now. */
export function readyServers(upstream: Upstream): ModelServer[] {
  const { server_id, workload, replicas, sleeping, engine, adapter, is_own: isOwn } = upstream;
  if (sleeping) return [];
  return [{ server_id, workload }, ...replicas].flatMap((server) =>
    server.workload && canAnswer(server.workload, adapter)
      ? [
          {
            id: server.server_id,
            isOwn,
            baseUrl: server.workload.base_url ?? '',
            key: server.workload.server_key,
            engine,
            selection: chooseAdapter(engine, server.workload.adapter_names, adapter),
          },
        ]
      : [],
  );
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
 * when its model server is said to have changed. Throws AppError 'unavailable' when it cannot come
 * up, and what waking throws.
 */
export async function awaitModelServer(
  ctx: Context,
  parts: ServingParts,
  { upstream, modelName, signal, onWait }: Wait,
): Promise<ModelServer[]> {
  const began = Date.now();
  let phase = '';
  let podId: string | null = null;
  let woken = false;
  let watch = watchModelServer(ctx.events, upstream.server_id);
  try {
    for (;;) {
      const found = await findModel(ctx, parts, modelName).catch((error) => explainEnd(ctx, podId, error));
      const ready = readyServers(found);
      if (ready.length > 0) return ready;
      podId = found.pod_id;
      if (needsWaking(found)) {
        // It was woken before, and has given up since.
        if (woken) throw unavailable(`${modelName} could not start`);
        await (podId ? wakeDeployment(ctx, parts, podId) : openStarterServer(ctx, parts, modelName));
        woken = true;
        continue;
      }
      if (found.server_id !== watch.serverId) {
        watch.stop();
        watch = watchModelServer(ctx.events, found.server_id);
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
  const ended = podId
    ? await findDeployment(ctx.db, { userId: ctx.caller.userId, podId, kind: 'text' })
    : undefined;
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
