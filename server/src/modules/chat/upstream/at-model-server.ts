import type { Context } from '../../../platform/context.ts';
import {
  awaitModelServer,
  type ModelServer,
  readyServers,
} from '../../deployments/reach/await-model-server.ts';
import type { Upstream } from '../../deployments/reach/upstream.ts';
import { ModelServerUnreachable } from '../../serving/ask/model-server-client.ts';
import { retryUnreachable } from '../../serving/ask/retry-unreachable.ts';
import type { ServerKindName } from '../../serving/server-kinds.ts';
import type { RunningCall } from '../call-model.ts';
import type { ChatParts } from '../chat-parts.ts';
import { chooseReplica } from './replicas/choose-replica.ts';

type Kind = Extract<ServerKindName, 'text' | 'embedding'>;

type Options<K extends Kind> = {
  kind: K;
  /** Told what is waited for, each time that it changes. */
  onWait?: (phase: string) => void;
  /** Whether routers pass on what is asked. */
  routed?: boolean;
};

/**
 * Does something at whichever server answers for the model, which is woken where it must be; again at another one where it
 * cannot be reached. Users take turns at a server. A router in front of the replicas of a deployment is asked in their place,
 * and they are where it reaches none. Throws what waking throws, and AppError 'unavailable'.
 */
export async function atModelServer<K extends Kind, Result>(
  ctx: Context,
  parts: ChatParts,
  { upstream, signal, deadline }: Pick<RunningCall<K>, 'upstream' | 'signal' | 'deadline'>,
  { kind, onWait = () => undefined, routed = true }: Options<K>,
  use: (server: ModelServer<K>) => Promise<Result>,
): Promise<Result> {
  const modelName = upstream.model_name;
  const tried = new Set<string>();
  const attempt = async (number: number) => {
    // What did not answer is not asked again without a look.
    const ready = number === 1 ? readyServers(upstream) : [];
    const wait = { upstream, modelName, kind, signal, onWait };
    const servers = ready.length > 0 ? ready : await awaitModelServer(ctx, parts, wait);
    const { unreached } = parts;
    const server = chooseReplica({ ...parts.turns, unreached, tried }, servers);
    tried.add(server.id);
    const loads = servers.map(parts.turns.load);
    parts.replicas.grow(ctx, upstream, { loads, places: parts.turns.places(server) });
    // Whatever a router has answered, it is asked once.
    const router = routed && number === 1 ? routerOf(ctx, upstream, servers) : null;
    const isRouter = router !== null && !unreached.has(router);
    const baseUrl = isRouter ? router : server.baseUrl;
    // A router may use them all.
    const used = isRouter ? (upstream.replicas.at(-1)?.server_id ?? server.id) : server.id;
    const letGo = parts.replicas.keep(ctx, upstream, used);
    const wasReached = !unreached.has(baseUrl);
    let leave = () => undefined as void;
    try {
      leave = await parts.turns.enter(server, ctx.caller.userId, signal);
      // Whoever came first has found out meanwhile: the rest of the line need not.
      if (wasReached && unreached.has(baseUrl)) throw new ModelServerUnreachable('passed over');
      return await use({ ...server, baseUrl, isRouter }).catch((error: unknown) => {
        if (error instanceof ModelServerUnreachable && !error.wasDelivered) {
          unreached.note(baseUrl);
          if (isRouter) ctx.log.warn({ err: error, router }, 'a router does not answer: replicas are asked');
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

/** The router in front of these servers; null: there is none, or one of them is not behind it, and asks for another key. */
function routerOf(
  { config: { routing } }: Context,
  { pod_id: podId }: Pick<Upstream, 'pod_id'>,
  servers: Pick<ModelServer, 'key'>[],
): string | null {
  const router = routing?.routers.get(podId ?? '') ?? null;
  return servers.every(({ key }) => key === routing?.key) ? router : null;
}
