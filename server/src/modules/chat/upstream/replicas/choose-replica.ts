import type { ModelServer } from '../../../deployments/reach/await-model-server.ts';
import type { ServerTurns } from '../server-turns.ts';
import type { UnreachedServers } from './unreached-servers.ts';

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
