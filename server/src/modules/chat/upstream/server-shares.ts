import type { Beat } from '../../../engine/machines/heartbeat.ts';

/** Among how many web processes the places of each model server are shared: those that send to it. */
export type ServerShares = {
  /** Hears what each beat of this process found. */
  onBeat: (beat: Pick<Beat, 'others'>) => void;
  /** This process has a request for the server, until the returned function is called. */
  begin: (serverId: string) => () => void;
  /** The servers that this process has had requests for since this was asked last. */
  asked: () => string[];
  /** This process and the others that send to the server; before the first beat as many as there can be. */
  sharers: (serverId: string) => number;
};

/**
 * What it knows of others is a beat old: for so long after another process has begun to send, the sum may be above what
 * the server answers side by side, and what is too much waits in its own line.
 */
export function serverShares(): ServerShares {
  let others: Record<string, number> | null = null;
  /** Requests by server; those that have ended are kept until it was asked for them. */
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
