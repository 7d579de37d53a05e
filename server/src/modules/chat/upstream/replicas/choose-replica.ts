import type { ModelServer } from '../../../deployments/reach/await-model-server.ts';
import type { ServerTurns } from '../server-turns.ts';

/**
 * The first replica at which the request need not wait, so that the last ones idle where fewer would do; else the
 * one with the fewest requests of this process. One that was `tried` in vain is chosen only where all were. Pure.
 */
export function chooseReplica<
  Server extends Pick<ModelServer<'text' | 'embedding'>, 'id' | 'isOwn' | 'engine'>,
>(
  { load, places }: Pick<ServerTurns, 'load' | 'places'>,
  servers: Server[],
  tried: ReadonlySet<string>,
): Server {
  const untried = servers.filter(({ id }) => !tried.has(id));
  const those = untried.length > 0 ? untried : servers;
  return (
    those.find((one) => load(one) < places(one)) ??
    those.reduce((least, one) => (load(one) < load(least) ? one : least))
  );
}
