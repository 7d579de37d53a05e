import { type FairQueue, fairQueue } from '../../../platform/concurrency/fair-queue.ts';
import { shareLimit } from '../../../platform/concurrency/share-limit.ts';
import type { ModelServer } from '../../deployments/reach/await-model-server.ts';
import { PARALLEL_REQUESTS } from '../../serving/text-spec.ts';
import { type AdapterTurns, adapterTurns } from './adapter-turns.ts';
import type { ServerShares } from './server-shares.ts';

type Server = Pick<ModelServer<'text' | 'embedding'>, 'id' | 'isOwn' | 'engine'>;

/** Bytes of a prompt that is read beside long ones, and before them: about four of llama.cpp's batches. */
export const SHORT_BYTES = 1024;

/** Whose turn it is at each model server, among the requests of this process. */
export type ServerTurns = {
  /** Requests that this process sends to one model server at once: its share of those that are answered side by side. */
  places: (server: Pick<Server, 'id' | 'engine'>) => number;
  /** How many requests the server answers or has waiting. */
  load: (server: Server) => number;
  /** Waits for a place at the server, and resolves with how to give it back. */
  enter: (server: Server, userId: string, signal: AbortSignal) => Promise<() => void>;
  /** Waits for the turn of the adapter that is asked, and resolves with how to end it. Whoever calls has a place. */
  enterAdapter: (server: Pick<ModelServer, 'id' | 'adapter'>, signal: AbortSignal) => Promise<() => void>;
  /** Waits for the turn to have so many bytes of a prompt read, and resolves with how to end it. Whoever calls has a place. */
  read: (
    server: Pick<ModelServer, 'id' | 'adapter'>,
    userId: string,
    bytes: number,
    signal: AbortSignal,
  ) => Promise<() => void>;
};

/**
 * The web processes that send to a model server send as many requests at once as it answers side by side; the others wait
 * here, and not in a line of the server's own. Of each user one short and one long prompt are read at a time: llama.cpp
 * goes on with the others between two of them, and reads none faster beside another (`prompt-slots.ts`).
 * A server that nobody asks is not remembered.
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

/** Ends something else as well, with the place or where there is none. */
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
