import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { getShared } from '@bakehouse/contract/share-links';
import Fastify from 'fastify';
import { onFileEnd } from '../../../testing/on-file-end.ts';
import { temporaryFolder } from '../../../testing/temporary-folder.ts';
import type { TestServer } from '../../../testing/test-server.ts';
import { sharePage } from '../share-page.ts';

const INDEX =
  '<head>\n<meta name="description" content="Bread" />\n<title>Bakehouse</title></head><body></body>';

/**
 * For tests: opens share links as a stranger. Serves a minimal web app, because the real one may not be
 * built.
 */
export async function linkPages(server: TestServer) {
  const dist = await temporaryFolder();
  await mkdir(dist, { recursive: true });
  const index = path.join(dist, 'index.html');
  await writeFile(index, INDEX);
  const pages = Fastify();
  await pages.register(sharePage(server.services, dist));
  onFileEnd(() => pages.close());
  const page = (token: string, headers = {}) => pages.inject({ url: `/share/${token}`, headers });
  const fetchOwn = (url: string, init: RequestInit = {}) => fetch(new URL(url, server.url), init);
  return {
    index,
    page,
    fetchOwn,
    tokenOf: ({ url }: { url: string }) => new URL(url).pathname.replace(/^\/share\//, ''),
    shown: (token: string) => server.request(getShared, { params: { token } }),
    /** Returns the statuses of the API call and the page of a link, and of one file if given. */
    statusesOf: async (token: string, file?: string): Promise<number[]> => [
      (await server.send(getShared, { params: { token } })).status,
      (await page(token)).statusCode,
      ...(file === undefined ? [] : [(await fetchOwn(file)).status]),
    ],
  };
}
