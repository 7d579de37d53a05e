import type { Beat } from '../../../engine/machines/heartbeat.ts';

/** Tracks how many web processes share the places of each model server. */
export type ServerShares = {
  /** Receives the result of each heartbeat of this process. */
  onBeat: (beat: Pick<Beat, 'others'>) => void;
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
  /** Requests by server. Ended requests stay until the next call of `asked`. */
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
