import { afterAll } from 'vitest';
import { startOwnServer } from '../../scripts/client/own-server.ts';
import { upstreamServer } from '../../server/src/modules/providers/testing/upstream-server.ts';

/**
 * A server of the file's own for which services generate: Black Forest Labs and fal, which stand on this machine and answer
 * as `upstream` says.
 */
export async function startServiceServer() {
  const { state: upstream, access, close } = await upstreamServer();
  afterAll(close);
  const server = await startOwnServer({
    BFL_API_KEY: access.key,
    FAL_KEY: access.key,
    BAKEHOUSE_SERVICE_URLS: `bfl=${access.url},fal=${access.url}`,
    BAKEHOUSE_PREPARE: 'false',
    BAKEHOUSE_DRIVER: 'fake',
  });
  afterAll(server.stop);
  return { server, upstream };
}
