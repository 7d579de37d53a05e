import type { ModelServer } from '../../../deployments/reach/await-model-server.ts';
import type { ServerTurns } from '../server-turns.ts';
import type { UnreachedServers } from './unreached-servers.ts';

type Known = Pick<ServerTurns, 'load' | 'places'> & {
  unreached: Pick<UnreachedServers, 'has'>;
  /** The servers that this request has tried in vain, by their ids. */
  tried: ReadonlySet<string>;
};

/**
 * The first replica at which the request need not wait, so that the last ones idle where fewer would do; else the
 * one with the fewest requests of this process. One that was `tried` in vain is chosen only where all were, and of the
 * rest one that could not be reached lately only where there is no other. Pure.
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

/** Those of which it is true; where there are none, all. */
function orAll<One>(all: One[], isTrue: (one: One) => boolean): One[] {
  const those = all.filter(isTrue);
  return those.length > 0 ? those : all;
}
