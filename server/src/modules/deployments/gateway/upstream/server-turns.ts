import { type FairQueue, fairQueue } from '../../../../platform/concurrency/fair-queue.ts';
import { shareLimit } from '../../../../platform/concurrency/share-limit.ts';
import { PARALLEL_REQUESTS } from '../../kinds/text-spec.ts';
import type { ModelServer } from './await-model-server.ts';

type Server = Pick<ModelServer, 'id' | 'isOwn' | 'engine'>;

/** Whose turn it is at each model server, among the requests of this process. */
export type ServerTurns = {
  /** Requests that this process sends to one model server at once: its share of those that are answered side by side. */
  places: (server: Pick<Server, 'engine'>) => number;
  /** How many requests the server answers or has waiting. */
  load: (server: Server) => number;
  /** Waits for a place at the server, and resolves with how to give it back. */
  enter: (server: Server, userId: string, signal: AbortSignal) => Promise<() => void>;
};

/**
 * All web processes send as many requests at once as a model server answers side by side; the others wait
 * here, and not in a line of the server's own. A server that nobody asks is not remembered.
 */
export function serverTurns(webProcesses: () => number, queues = new Map<string, FairQueue>()): ServerTurns {
  const places = ({ engine }: Pick<Server, 'engine'>) =>
    shareLimit(PARALLEL_REQUESTS[engine], webProcesses());
  const forgetIdle = (id: string) => {
    if (queues.get(id)?.load() === 0) queues.delete(id);
  };
  return {
    places,
    load: ({ id }) => queues.get(id)?.load() ?? 0,
    enter: async (server, userId, signal) => {
      const { id, isOwn } = server;
      const queue = queues.get(id) ?? fairQueue(() => places(server), { lastForNewcomer: !isOwn });
      queues.set(id, queue);
      try {
        const leave = await queue.enter(userId, signal);
        return () => {
          leave();
          forgetIdle(id);
        };
      } catch (error) {
        forgetIdle(id);
        throw error;
      }
    },
  };
}
