import type { ModelServer } from '../../../deployments/reach/await-model-server.ts';
import type { ServerTurns } from '../server-turns.ts';

/**
 * Time for which an unreachable server is skipped: long enough that few requests hit a dead machine, short
 * enough that a recovered one is used again soon.
 */
const PASS_OVER_MS = 10_000;

type Known = Pick<ServerTurns, 'load' | 'places'> & {
  unreached: Pick<UnreachableServers, 'has'>;
  /** The ids of the servers that this request has already tried. */
  tried: ReadonlySet<string>;
};

/**
 * Returns the first replica where the request need not wait. Filling the first ones lets the last ones become
 * idle and stop. If all are full, returns the replica with the fewest requests of this process. Prefers
 * servers that are not in `tried`, and among these, servers that were not recently unreachable.
 */
export function chooseReplica<
  Server extends Pick<ModelServer<'text' | 'embedding'>, 'id' | 'isOwn' | 'engine' | 'baseUrl'>,
>({ load, places, unreached, tried }: Known, servers: Server[]): Server {
  const untried = orAll(servers, ({ id }) => !tried.has(id));
  const those = orAll(untried, ({ baseUrl }) => !unreached.has(baseUrl));
  return (
    those.find((one) => load(one) < places(one)) ??
    those.reduce((least, one) => (load(one) < load(least) ? one : least))
  );
}

/** Returns the elements that match, or all elements if none match. */
function orAll<One>(all: One[], isTrue: (one: One) => boolean): One[] {
  const those = all.filter(isTrue);
  return those.length > 0 ? those : all;
}

/** The number of this process's requests at each ready replica, and the maximum per replica. */
export type ReplicaLoads = { loads: number[]; places: number };

/** Returns true if one more request would have to wait at every replica. */
export function needsReplica({ loads, places }: ReplicaLoads): boolean {
  return loads.every((load) => load >= places);
}

/**
 * Addresses of model servers that were recently unreachable from this process. Requests try other servers
 * first.
 */
export type UnreachableServers = {
  record: (baseUrl: string) => void;
  has: (baseUrl: string) => boolean;
};

/** Creates an empty list, whose entries expire. */
export function trackUnreachableServers(now: () => number = () => performance.now()): UnreachableServers {
  const until = new Map<string, number>();
  return {
    record: (baseUrl) => {
      for (const [known, end] of until) if (end <= now()) until.delete(known);
      until.set(baseUrl, now() + PASS_OVER_MS);
    },
    has: (baseUrl) => now() < (until.get(baseUrl) ?? Number.NEGATIVE_INFINITY),
  };
}
