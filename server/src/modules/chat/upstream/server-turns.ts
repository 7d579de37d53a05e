import type { HeartbeatResult } from '../../../engine/machines/heartbeat-loop.ts';
import { type FairQueue, fairQueue } from '../../../platform/concurrency/fair-queue.ts';
import { shareLimit } from '../../../platform/concurrency/share-limit.ts';
import type { ModelServer } from '../../deployments/reach/await-model-server.ts';
import { PARALLEL_REQUESTS } from '../../serving/text-spec.ts';

/**
 * Maximum bytes of a short prompt: about four of llama.cpp's batches. A short prompt need not wait for a long
 * one.
 */
export const SHORT_BYTES = 1024;

type Server = Pick<ModelServer<'text' | 'embedding'>, 'id' | 'isOwn' | 'engine'>;

/** Queues of this process's requests at each model server. */
export type ServerTurns = {
  /**
   * Returns how many requests this process may send to a model server in parallel: its share of what the
   * server answers.
   */
  places: (server: Pick<Server, 'id' | 'engine'>) => number;
  /** The number of running and waiting requests of the server. */
  load: (server: Server) => number;
  /** Waits for one of these slots at the server, and returns a function that releases it. */
  enter: (server: Server, userId: string, signal: AbortSignal) => Promise<() => void>;
  /**
   * Waits until requests of the server's adapter are admitted, and returns a function that ends the turn.
   * Call it while holding a slot.
   */
  enterAdapter: (server: Pick<ModelServer, 'id' | 'adapter'>, signal: AbortSignal) => Promise<() => void>;
  /**
   * Waits until a prompt of `bytes` bytes may be sent, and returns a function to call when it was read. Call
   * it while holding a slot.
   */
  read: (
    server: Pick<ModelServer, 'id' | 'adapter'>,
    userId: string,
    bytes: number,
    signal: AbortSignal,
  ) => Promise<() => void>;
};

/**
 * Queues requests in this process instead of in the model servers. Together, the web processes send as many
 * requests to a model server as it answers in parallel. For each user, one short and one long prompt are read
 * at a time: between two prompts, llama.cpp serves other users, and it does not read prompts faster in
 * parallel (`prompt-slots.ts`). Idle servers are forgotten.
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
    const deleteIfIdle = () => {
      if (queue.load() === 0 && queues.get(name) === queue) queues.delete(name);
    };
    try {
      const leave = await queue.enter(userId, signal);
      let hasLeft = false;
      return () => {
        if (hasLeft) return;
        hasLeft = true;
        leave();
        deleteIfIdle();
      };
    } catch (error) {
      deleteIfIdle();
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
      const deleteIfIdle = () => {
        if (turns.load() === 0 && adapters.get(id) === turns) adapters.delete(id);
      };
      try {
        const leave = await turns.enter(adapter, signal);
        return () => {
          leave();
          deleteIfIdle();
        };
      } catch (error) {
        deleteIfIdle();
        throw error;
      }
    },
    read: ({ id, adapter }, userId, bytes, signal) => {
      // Prompts for different adapters are never in the same batch, so each adapter has its own queue.
      const name = `${id} ${adapter} ${bytes > SHORT_BYTES ? 'long' : 'short'}`;
      return enterAt(name, () => fairQueue(Number.POSITIVE_INFINITY, { perKey: 1 }), userId, signal);
    },
  };
}

/** Waits for `entering`. Calls `end` when the acquired slot is released, or if acquiring it failed. */
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

type Waiting = { adapter: string | null; begin: () => void };

export type AdapterTurns = {
  /**
   * Waits until requests of this adapter are admitted, and returns a function that ends the turn. Rejects
   * with the signal's reason.
   */
  enter: (adapter: string | null, signal: AbortSignal) => Promise<() => void>;
  /** Returns the number of running and waiting requests. */
  load: () => number;
};

/**
 * Admits requests of one adapter at a time, because llama.cpp computes only one at a time: while a slot
 * writes with one adapter, llama.cpp does not start answers with another, or pauses them. A waiting request
 * for another adapter is admitted before newer requests for the current one.
 */
export function adapterTurns(): AdapterTurns {
  let present: string | null = null;
  let inside = 0;
  let line: Waiting[] = [];

  function next(): void {
    for (;;) {
      const [first] = line;
      if (!first || (inside > 0 && first.adapter !== present)) return;
      // Admit all waiting requests of the same adapter in this turn.
      if (inside === 0) {
        present = first.adapter;
        line = [
          ...line.filter(({ adapter }) => adapter === present),
          ...line.filter(({ adapter }) => adapter !== present),
        ];
      }
      inside += 1;
      line.shift()?.begin();
    }
  }

  return {
    load: () => inside + line.length,
    enter: (adapter, signal) =>
      new Promise((resolve, reject) => {
        signal.throwIfAborted();
        const leave = () => {
          inside -= 1;
          next();
        };
        const waiting = {
          adapter,
          begin: () => {
            signal.removeEventListener('abort', abort);
            resolve(leave);
          },
        };
        const abort = () => {
          line = line.filter((one) => one !== waiting);
          reject(signal.reason as Error);
          next();
        };
        signal.addEventListener('abort', abort, { once: true });
        line.push(waiting);
        next();
      }),
  };
}

/** Tracks how many web processes share each model server. */
export type ServerShares = {
  /** Call with the result of each heartbeat of this process. */
  onBeat: (beat: Pick<HeartbeatResult, 'others'>) => void;
  /** Counts a request to the server. Call the returned function when the request has ended. */
  begin: (serverId: string) => () => void;
  /** Returns the servers that had requests since the last call, to report them with the heartbeat. */
  asked: () => string[];
  /** Returns the number of processes that use the server. Before the first heartbeat, assumes the maximum. */
  sharers: (serverId: string) => number;
};

/**
 * The numbers are as old as the last heartbeat. When another process starts to send requests, more may be
 * sent than the server answers in parallel. For that short time, they wait in the server's own queue.
 */
export function serverShares(): ServerShares {
  let others: Record<string, number> | null = null;
  /**
   * Open requests by server. A server without open requests stays until the next call of `asked`, which
   * reports it once more.
   */
  const requests = new Map<string, number>();
  return {
    onBeat: (beat) => {
      others = beat.others.asked;
    },
    begin: (serverId) => {
      requests.set(serverId, (requests.get(serverId) ?? 0) + 1);
      let hasEnded = false;
      return () => {
        if (!hasEnded) requests.set(serverId, (requests.get(serverId) ?? 1) - 1);
        hasEnded = true;
      };
    },
    asked: () => {
      const asked = [...requests];
      for (const [id, count] of asked) if (count === 0) requests.delete(id);
      return asked.map(([id]) => id);
    },
    sharers: (serverId) => (others ? 1 + (others[serverId] ?? 0) : Number.POSITIVE_INFINITY),
  };
}
