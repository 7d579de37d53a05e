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
    BAKEHOUSE_BFL_URL: access.url,
    FAL_KEY: access.key,
    BAKEHOUSE_FAL_URL: access.url,
    BAKEHOUSE_PREPARE: 'false',
    BAKEHOUSE_DRIVER: 'fake',
  });
  afterAll(server.stop);
  return { server, upstream };
}
