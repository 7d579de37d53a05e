import { afterAll } from 'vitest';
import { startSeparateServer } from '../../scripts/client/separate-server.ts';
import { upstreamServer } from '../../server/src/modules/providers/testing/upstream-server.ts';

/**
 * Starts a server for this file with two services, Black Forest Labs and fal. Local fakes respond for them as
 * set in `upstream`.
 */
export async function startServiceServer() {
  const { state: upstream, access, close } = await upstreamServer();
  afterAll(close);
  const server = await startSeparateServer({
    BFL_API_KEY: access.key,
    FAL_KEY: access.key,
    BAKEHOUSE_SERVICE_URLS: `bfl=${access.url},fal=${access.url}`,
    BAKEHOUSE_PREPARE: 'false',
    BAKEHOUSE_DRIVER: 'fake',
  });
  afterAll(server.stop);
  return { server, upstream };
}
