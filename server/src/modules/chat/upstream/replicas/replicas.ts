import type { ModelServer } from '../../../deployments/reach/await-model-server.ts';
import type { ServerTurns } from '../server-turns.ts';

/** Long enough that few requests hit a dead machine, short enough to use a recovered one soon. */
const PASS_OVER_MS = 10_000;

type Known = Pick<ServerTurns, 'load' | 'places'> & {
  unreached: Pick<UnreachedServers, 'has'>;
  /** The ids of the servers that this request has tried without success. */
  tried: ReadonlySet<string>;
};

/**
 * Returns the first replica without a queue, so that the last ones can idle, or else the replica with the
 * fewest requests of this process. Prefers servers that were not `tried`, and among these, servers that were
 * reachable recently.
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

/** Returns the matching elements, or all if none match. */
function orAll<One>(all: One[], isTrue: (one: One) => boolean): One[] {
  const those = all.filter(isTrue);
  return those.length > 0 ? those : all;
}

/** This process's requests at each ready replica, and the maximum per replica. */
export type ReplicaLoads = { loads: number[]; places: number };

/** Returns true if one more request would have to wait at every replica. */
export function needsReplica({ loads, places }: ReplicaLoads): boolean {
  return loads.every((load) => load >= places);
}

/** Addresses of model servers that were recently unreachable from this process. Others are tried first. */
export type UnreachedServers = {
  record: (baseUrl: string) => void;
  has: (baseUrl: string) => boolean;
};

/** Creates the list. Entries expire. */
export function unreachedServers(now: () => number = () => performance.now()): UnreachedServers {
  const until = new Map<string, number>();
  return {
    record: (baseUrl) => {
      for (const [known, end] of until) if (end <= now()) until.delete(known);
      until.set(baseUrl, now() + PASS_OVER_MS);
    },
    has: (baseUrl) => now() < (until.get(baseUrl) ?? Number.NEGATIVE_INFINITY),
  };
}
