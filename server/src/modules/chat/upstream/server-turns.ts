import { type FairQueue, fairQueue } from '../../../platform/concurrency/fair-queue.ts';
import { shareLimit } from '../../../platform/concurrency/share-limit.ts';
import type { ModelServer } from '../../deployments/reach/await-model-server.ts';
import { PARALLEL_REQUESTS } from '../../serving/text-spec.ts';
import { type AdapterTurns, adapterTurns } from './adapter-turns.ts';
import type { ServerShares } from './server-shares.ts';

type Server = Pick<ModelServer<'text' | 'embedding'>, 'id' | 'isOwn' | 'engine'>;

/** Bytes of a short prompt, which is read in parallel to long ones: about four of llama.cpp's batches. */
export const SHORT_BYTES = 1024;

/** The turns of this process's requests at each model server. */
export type ServerTurns = {
  /** This process's share of the requests that a model server answers in parallel. */
  places: (server: Pick<Server, 'id' | 'engine'>) => number;
  /** The number of running and waiting requests of the server. */
  load: (server: Server) => number;
  /** Waits for a place at the server and returns a function that releases it. */
  enter: (server: Server, userId: string, signal: AbortSignal) => Promise<() => void>;
  /** Waits for the turn of the server's adapter; returns a function that ends it. Requires a place. */
  enterAdapter: (server: Pick<ModelServer, 'id' | 'adapter'>, signal: AbortSignal) => Promise<() => void>;
  /** Waits for the turn to read a prompt of `bytes` bytes; returns its end. Requires a place. */
  read: (
    server: Pick<ModelServer, 'id' | 'adapter'>,
    userId: string,
    bytes: number,
    signal: AbortSignal,
  ) => Promise<() => void>;
};

/**
 * Together, the web processes send as many requests to a model server as it answers in parallel; the rest
 * waits here instead of in the server's queue. One short and one long prompt per user are read at a time:
 * llama.cpp serves other users between two prompts, and does not read faster in parallel (`prompt-slots.ts`).
 * Idle servers are dropped.
 */
export function serverTurns(
  shares: Pick<ServerShares, 'begin' | 'sharers'>,
  queues = new Map<string, FairQueue>(),
  adapters = new Map<string, AdapterTurns>(),
): ServerTurns {
  const places = ({ id, engine }: Pick<Server, 'id' | 'engine'>) =>
    shareLimit(PARALLEL_REQUESTS[engine], shares.sharers(id));
  const enterAt = async (
    name: string,
    makeQueue: () => FairQueue,
    userId: string,
    signal: AbortSignal,
  ): Promise<() => void> => {
    const queue = queues.get(name) ?? makeQueue();
    queues.set(name, queue);
    const forgetIdle = () => {
      if (queue.load() === 0 && queues.get(name) === queue) queues.delete(name);
    };
    try {
      const leave = await queue.enter(userId, signal);
      let hasLeft = false;
      return () => {
        if (hasLeft) return;
        hasLeft = true;
        leave();
        forgetIdle();
      };
    } catch (error) {
      forgetIdle();
      throw error;
    }
  };
  return {
    places,
    load: ({ id }) => queues.get(id)?.load() ?? 0,
    enter: (server, userId, signal) => {
      const makeQueue = () => fairQueue(() => places(server), { lastForNewcomer: !server.isOwn });
      const end = shares.begin(server.id);
      return endedBy(end, enterAt(server.id, makeQueue, userId, signal));
    },
    enterAdapter: async ({ id, adapter }, signal) => {
      const turns = adapters.get(id) ?? adapterTurns();
      adapters.set(id, turns);
      const forgetIdle = () => {
        if (turns.load() === 0 && adapters.get(id) === turns) adapters.delete(id);
      };
      try {
        const leave = await turns.enter(adapter, signal);
        return () => {
          leave();
          forgetIdle();
        };
      } catch (error) {
        forgetIdle();
        throw error;
      }
    },
    read: ({ id, adapter }, userId, bytes, signal) => {
      // Prompts for different adapters never share a batch.
      const name = `${id} ${adapter} ${bytes > SHORT_BYTES ? 'long' : 'short'}`;
      return enterAt(name, () => fairQueue(Number.POSITIVE_INFINITY, { perKey: 1 }), userId, signal);
    },
  };
}

/** Calls `end` when the place is released, or if it was never acquired. */
async function endedBy(end: () => void, entering: Promise<() => void>): Promise<() => void> {
  try {
    const leave = await entering;
    return () => {
      leave();
      end();
    };
  } catch (error) {
    end();
    throw error;
  }
}
