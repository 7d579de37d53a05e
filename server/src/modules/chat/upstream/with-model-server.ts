import type { Context } from '../../../platform/context.ts';
import {
  awaitModelServer,
  type ModelServer,
  readyServers,
} from '../../deployments/reach/await-model-server.ts';
import type { Upstream } from '../../deployments/reach/upstream.ts';
import { ModelServerUnreachable, retryUnreachable } from '../../serving/ask/model-server-client.ts';
import type { ServerKindName } from '../../serving/server-kinds.ts';
import type { RunningCall } from '../call-model.ts';
import type { ChatParts } from '../chat-parts.ts';
import { chooseReplica } from './replicas/replicas.ts';

type Kind = Extract<ServerKindName, 'text' | 'embedding'>;

type Options<K extends Kind> = {
  kind: K;
  /** Called with each new reason while the request waits for a place at a server, then with an empty one. */
  onWait?: (reason: string) => void;
  /** True if this kind of request can be sent through a router. */
  routed?: boolean;
};

/**
 * Runs `use` with any server of the model, and wakes the model if necessary. Retries with another server if
 * the first is unreachable. Users take turns at a server. If a router is in front of a deployment's replicas,
 * it is tried first; if it is unreachable or reaches no replica, the replicas are tried directly. Throws the
 * errors of waking a server, and AppError 'unavailable'.
 */
export async function withModelServer<K extends Kind, Result>(
  ctx: Context,
  parts: ChatParts,
  { upstream, signal, deadline }: Pick<RunningCall<K>, 'upstream' | 'signal' | 'deadline'>,
  { kind, onWait = () => undefined, routed = true }: Options<K>,
  use: (server: ModelServer<K>) => Promise<Result>,
): Promise<Result> {
  const modelName = upstream.model_name;
  const tried = new Set<string>();
  const attempt = async (number: number) => {
    // Trust the cached list of servers only in the first attempt, because it may be outdated after a failure.
    const ready = number === 1 ? readyServers(upstream) : [];
    const isStarting = (phase: string, reason: string) => onWait(`The model is starting: ${reason || phase}`);
    const wait = { upstream, modelName, kind, signal, onWait: isStarting };
    const servers = ready.length > 0 ? ready : await awaitModelServer(ctx, parts, wait);
    const { unreached } = parts;
    const server = chooseReplica({ ...parts.turns, unreached, tried }, servers);
    tried.add(server.id);
    const loads = servers.map(parts.turns.load);
    parts.replicas.grow(ctx, upstream, { loads, places: parts.turns.places(server) });
    // Try the router only in the first attempt.
    const router = routed && number === 1 ? routerOf(ctx, upstream, servers) : null;
    const isRouter = router !== null && !unreached.has(router);
    const baseUrl = isRouter ? router : server.baseUrl;
    // The router may choose any replica. Mark the last one as used, because replicas are dropped from the
    // end.
    const used = isRouter ? (upstream.replicas.at(-1)?.server_id ?? server.id) : server.id;
    const letGo = parts.replicas.keep(ctx, upstream, used);
    const wasReached = !unreached.has(baseUrl);
    let leave = () => undefined as void;
    const before = parts.turns.load(server);
    if (before > 0)
      onWait(`Up to ${before} ${before === 1 ? 'question is' : 'questions are'} answered before yours`);
    try {
      leave = await parts.turns.enter(server, ctx.caller.userId, signal);
      onWait('');
      // Another request found the server unreachable while this one waited in the queue.
      if (wasReached && unreached.has(baseUrl))
        throw new ModelServerUnreachable('skipped: recently unreachable');
      return await use({ ...server, baseUrl, isRouter }).catch((error: unknown) => {
        if (error instanceof ModelServerUnreachable && !error.wasDelivered) {
          unreached.record(baseUrl);
          if (isRouter) ctx.log.warn({ err: error, router }, 'router unreachable; falling back to replicas');
        }
        throw error;
      });
    } finally {
      deadline.rest();
      leave();
      letGo();
    }
  };
  return retryUnreachable(attempt, { modelName, signal });
}

/**
 * Returns the router in front of these servers. Null if there is none, or if a server has another key than
 * the router's.
 */
function routerOf(
  { config: { routing } }: Context,
  { pod_id: podId }: Pick<Upstream, 'pod_id'>,
  servers: Pick<ModelServer, 'key'>[],
): string | null {
  const router = routing?.routers.get(podId ?? '') ?? null;
  return servers.every(({ key }) => key === routing?.key) ? router : null;
}
