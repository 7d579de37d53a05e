import { cutHostPaths } from '../../../engine/host/cut-host-paths.ts';
import type { Context } from '../../../platform/context.ts';
import { modelUnavailable } from '../../../platform/errors.ts';
import { withIdleCredit } from '../../billing/usage/with-idle-credit.ts';
import type { EngineOf, ServerKindName } from '../../serving/server-kinds.ts';
import type { WakingParts } from '../end-deployment.ts';
import { findDeployment } from '../find-deployments.ts';
import { openStarterServer } from '../servers/open-starter-server.ts';
import { watchModelServer } from '../servers/watch-model-server.ts';
import { findModel } from './find-model.ts';
import type { Upstream, UpstreamWorkload } from './upstream.ts';
import { wakeDeployment } from './wake-deployment.ts';

export type ModelServer<Kind extends ServerKindName = 'text'> = {
  id: string;
  /** The workload that runs the model server. */
  workloadId: string;
  /** True if the server serves only one deployment. */
  isOwn: boolean;
  baseUrl: string;
  /** True if `baseUrl` is a router in front of the replicas. */
  isRouter: boolean;
  /** The revision that the request needs. */
  revisionId: string | null;
  key: string | null;
  engine: EngineOf[Kind];
  /** Maximum tokens of a request with its answer. */
  contextTokens: number;
  /**
   * The server's adapters, in the order of the engine's indexes. `adapter` is the requested one, or null for
   * the base model.
   */
  adapterNames: string[];
  adapter: string | null;
};

const WAIT_MS_MAX = 10 * 60_000;

/** Returns the model servers that can answer now. Servers that have recently not responded come last. */
export function readyServers<Kind extends ServerKindName>(upstream: Upstream<Kind>): ModelServer<Kind>[] {
  const { server_id, workload, replicas, sleeping, engine, adapter, is_own: isOwn } = upstream;
  if (sleeping) return [];
  const servers = [{ server_id, workload }, ...replicas].toSorted((a, b) => silenceOf(a) - silenceOf(b));
  return servers.flatMap((server) =>
    server.workload && canAnswer(server.workload, adapter)
      ? [
          {
            id: server.server_id,
            workloadId: server.workload.id,
            isOwn,
            baseUrl: server.workload.base_url ?? '',
            isRouter: false,
            revisionId: upstream.revision_id,
            key: server.workload.server_key,
            engine,
            contextTokens: upstream.context_tokens,
            adapterNames: server.workload.adapter_names,
            adapter,
          },
        ]
      : [],
  );
}

/** Sorts degraded servers last. They may still answer, but a server that has died is degraded at first. */
function silenceOf({ workload }: { workload: UpstreamWorkload | null }): number {
  return workload?.state === 'degraded' ? 1 : 0;
}

function canAnswer(workload: UpstreamWorkload, adapter: string | null): boolean {
  const up = workload.state === 'ready' || workload.state === 'degraded';
  return up && workload.base_url !== null && (adapter === null || workload.adapter_names.includes(adapter));
}

type Wait<Kind extends ServerKindName> = {
  /** The servers when the request arrived. */
  upstream: Upstream<Kind>;
  modelName: string;
  kind: Kind;
  signal: AbortSignal;
  onWait: (phase: string, reason: string) => void;
};

/**
 * Wakes the model if necessary, and waits until a server is ready. Calls `onWait` with each new phase and its
 * reason. Checks again whenever the model server changes. Throws AppError 'unavailable' if the server cannot
 * start, and the errors of waking.
 */
export async function awaitModelServer<Kind extends ServerKindName>(
  ctx: Context,
  parts: WakingParts,
  { upstream, modelName, kind, signal, onWait }: Wait<Kind>,
): Promise<ModelServer<Kind>[]> {
  const began = Date.now();
  let reported = '';
  let podId: string | null = null;
  let woken = false;
  let watch = watchModelServer(ctx.events, upstream.server_id);
  try {
    for (;;) {
      const found = await findModel(ctx, parts, { modelName, kind }).catch((error) =>
        explainEnd(ctx, podId, error),
      );
      const ready = readyServers(found);
      if (ready.length > 0) return ready;
      podId = found.pod_id;
      if (needsWaking(found)) {
        // This request has already woken the model, and its server has failed since.
        if (woken) throw modelUnavailable(`${modelName} could not start`);
        await (podId ? wake(ctx, parts, podId) : openStarterServer(ctx, parts, { modelName, kind }));
        woken = true;
        continue;
      }
      if (found.server_id !== watch.serverId) {
        watch.stop();
        watch = watchModelServer(ctx.events, found.server_id);
        continue;
      }
      const { phase, reason } = phaseOf(found);
      if (`${phase} ${reason}` !== reported) onWait(phase, reason);
      reported = `${phase} ${reason}`;
      if (Date.now() - began > WAIT_MS_MAX) throw modelUnavailable(`${modelName} did not wake in time`);
      await watch.change(signal);
    }
  } finally {
    watch.stop();
  }
}

function wake(ctx: Context, parts: WakingParts, podId: string): Promise<void> {
  return withIdleCredit(parts.usage, ctx.caller.userId, () => wakeDeployment(ctx, parts, podId));
}

/**
 * True if the model must be woken. Also true for a starter model whose server has failed, because no workload
 * will become ready.
 */
function needsWaking(upstream: Upstream<ServerKindName>): boolean {
  return upstream.sleeping || (upstream.pod_id === null && !upstream.workload && !upstream.next_workload);
}

/**
 * Throws an error with the reason if the deployment has ended during the request. Otherwise throws `error`.
 */
async function explainEnd(ctx: Context, podId: string | null, error: unknown): Promise<never> {
  const ended = podId ? await findDeployment(ctx.db, { userId: ctx.caller.userId, podId }) : undefined;
  if (ended?.terminated_at)
    throw modelUnavailable(`${ended.title} has ended. ${cutHostPaths(ctx.config, ended.reason)}`);
  throw error;
}

/** Returns the phase in which a request waits, and the reason. */
function phaseOf(upstream: Upstream<ServerKindName>): { phase: string; reason: string } {
  const workload = upstream.next_workload ?? upstream.workload;
  return workload
    ? { phase: workload.phase ?? workload.state, reason: workload.reason }
    : { phase: 'queued', reason: '' };
}
