import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { onFileEnd } from '../../../testing/on-file-end.ts';

export type Asked = {
  path: string;
  query: URLSearchParams;
  body: Record<string, unknown>;
  authorization: string;
};

/** For tests: a local JSON server that runs until the test file ends. */
export async function jsonServer(
  answer: (asked: Asked) => { status?: number; body?: object },
): Promise<{ url: string; close: () => Promise<void> }> {
  const server = createServer((request, response) => {
    void (async () => {
      const { status = 200, body = {} } = answer(await read(request));
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    })();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const close = onFileEnd(async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

async function read(request: IncomingMessage): Promise<Asked> {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
  return {
    ...{ path: pathname, query: searchParams },
    body: request.method === 'POST' ? ((await json(request)) as Record<string, unknown>) : {},
    authorization: request.headers.authorization ?? '',
  };
}
