import type { HeartbeatResult } from '../../../engine/machines/heartbeat-loop.ts';
import { type FairQueue, fairQueue } from '../../../platform/concurrency/fair-queue.ts';
import { shareLimit } from '../../../platform/concurrency/share-limit.ts';
import type { ModelServer } from '../../deployments/reach/await-model-server.ts';
import { PARALLEL_REQUESTS } from '../../serving/text-spec.ts';

/** Bytes of a short prompt, which is read in parallel to long ones: about four of llama.cpp's batches. */
export const SHORT_BYTES = 1024;

type Server = Pick<ModelServer<'text' | 'embedding'>, 'id' | 'isOwn' | 'engine'>;

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

type Waiting = { adapter: string | null; begin: () => void };

export type AdapterTurns = {
  /** Waits for the adapter's turn; returns a function that leaves. Rejects with the signal's reason. */
  enter: (adapter: string | null, signal: AbortSignal) => Promise<() => void>;
  /** Running and waiting requests. */
  load: () => number;
};

/**
 * Admits requests of one adapter at a time. llama.cpp computes one adapter at a time: while an answer in an
 * earlier slot is being written, it starts no answer with another adapter and pauses running ones. A request
 * for another adapter is therefore next, before new requests of the current adapter.
 */
export function adapterTurns(): AdapterTurns {
  let present: string | null = null;
  let inside = 0;
  let line: Waiting[] = [];

  function next(): void {
    for (;;) {
      const [first] = line;
      if (!first || (inside > 0 && first.adapter !== present)) return;
      // All waiting requests of the same adapter share the turn.
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

/** Tracks how many web processes share the places of each model server. */
export type ServerShares = {
  /** Receives the result of each heartbeat of this process. */
  onBeat: (beat: Pick<HeartbeatResult, 'others'>) => void;
  /** Counts a request to the server until the returned function is called. */
  begin: (serverId: string) => () => void;
  /** Returns the servers with requests since the last call. */
  asked: () => string[];
  /** Returns the number of processes that use the server; before the first heartbeat, the maximum. */
  sharers: (serverId: string) => number;
};

/**
 * Its data is one heartbeat old. After another process starts to send, the total may briefly exceed the
 * server's parallel requests; the excess waits in the server's queue.
 */
export function serverShares(): ServerShares {
  let others: Record<string, number> | null = null;
  /** Open requests by server. Servers without any stay until the next call of `asked`. */
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
