import type { Context } from '../../../../platform/context.ts';
import type { Upstream } from '../../../deployments/reach/upstream.ts';
import { addReplica, recordReplicaUse } from '../../../deployments/servers/scale-deployment.ts';
import type { ReadCapacity } from '../../../serving/served-model.ts';
import { needsReplica, type ReplicaLoads } from './replicas.ts';

/** How often to record that a replica is in use. Idle replicas are only stopped after minutes. */
const USE_AGAIN_MS = 30_000;
/** Minimum interval between two attempts to add a replica. */
const ASK_AGAIN_MS = 2_000;

/**
 * Adds replicas to deployments, and keeps used ones from being stopped. Works in the background: no request
 * waits for it.
 */
export type ReplicaScaling = {
  /** Adds a replica if one more request would have to wait. */
  grow: (ctx: Context, upstream: Upstream<'text' | 'embedding'>, load: ReplicaLoads) => void;
  /** Prevents a replica beyond the first from being stopped until the returned function is called. */
  keep: (ctx: Context, upstream: Upstream<'text' | 'embedding'>, serverId: string) => () => void;
};

/** Returns the replica scaling of this process, which limits how often each action runs. */
export function replicaScaling(parts: ReadCapacity): ReplicaScaling {
  const isAskDue = atMostEvery(ASK_AGAIN_MS);
  const isUseDue = atMostEvery(USE_AGAIN_MS);

  return {
    grow: (ctx, { pod_id: podId, max_replicas }, load) => {
      const answering = load.loads.length;
      if (podId === null || answering >= max_replicas || !needsReplica(load)) return;
      if (isAskDue(podId, performance.now())) settle(ctx, addReplica(ctx, parts, { podId, answering }));
    },
    keep: (ctx, { pod_id: podId, server_id: firstId }, serverId) => {
      if (podId === null || serverId === firstId) return () => undefined;
      const recordDemand = () => {
        const now = ctx.clock.now();
        if (isUseDue(serverId, now.getTime()))
          settle(ctx, recordReplicaUse(ctx.db, { podId, serverId, now }));
      };
      recordDemand();
      const timer = setInterval(recordDemand, USE_AGAIN_MS);
      return () => clearInterval(timer);
    },
  };
}

/**
 * Returns a function that limits how often an action runs: for each key, it returns true at most once per
 * interval.
 */
function atMostEvery(everyMs: number): (key: string, nowMs: number) => boolean {
  const last = new Map<string, number>();
  return (key, nowMs) => {
    for (const [known, at] of last) {
      if (nowMs - at < everyMs) break;
      last.delete(known);
    }
    if (last.has(key)) return false;
    last.set(key, nowMs);
    return true;
  };
}

function settle(ctx: Context, work: Promise<void>): void {
  work.catch((error: unknown) => ctx.log.warn({ err: error }, 'failed to record the load of a deployment'));
}
