import type { Context } from '../../../../platform/context.ts';
import type { Upstream } from '../../../deployments/reach/upstream.ts';
import { addReplica, noteReplicaUse } from '../../../deployments/servers/scale-deployment.ts';
import type { ReadCapacity } from '../../../serving/served-model.ts';
import { needsReplica, type ReplicaLoads } from './needs-replica.ts';

/** A replica goes after minutes without use, so this often is enough. */
const USE_AGAIN_MS = 30_000;
/** Requests that wait ask for another replica this often at most. */
const ASK_AGAIN_MS = 2_000;

/** What this process does for deployments with replicas. No request waits for it. */
export type ReplicaScaling = {
  /** Lets a deployment grow where one more request would wait. */
  grow: (ctx: Context, upstream: Upstream<'text' | 'embedding'>, load: ReplicaLoads) => void;
  /** Keeps a replica beyond the first from being let go, from now until the returned function is called. */
  keep: (ctx: Context, upstream: Upstream<'text' | 'embedding'>, serverId: string) => () => void;
};

/** Remembers what it has asked for and noted lately, so that many requests do it once. */
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
      const note = () => {
        const now = ctx.clock.now();
        if (isUseDue(serverId, now.getTime())) settle(ctx, noteReplicaUse(ctx.db, { podId, serverId, now }));
      };
      note();
      const timer = setInterval(note, USE_AGAIN_MS);
      return () => clearInterval(timer);
    },
  };
}

/** Tells by key whether it is so long ago that this was true last. Forgets what is longer ago. */
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
  work.catch((error: unknown) => ctx.log.warn({ err: error }, 'the load of a deployment could not be noted'));
}
