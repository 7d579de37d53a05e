import { mkdir, writeFile } from 'node:fs/promises';
import type http from 'node:http';
import path from 'node:path';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { readConfig } from '../config.ts';
import { hashToken } from '../engine/reports/attempts.ts';
import type { Services } from '../platform/context.ts';
import type { Binding } from '../platform/http/bind.ts';
import { buildHttpServer } from '../platform/http/http-server.ts';
import { onFileEnd } from './on-file-end.ts';
import { temporaryFolder } from './temporary-folder.ts';

type Answer = {
  status: number;
  headers: http.IncomingHttpHeaders;
  text: string;
  json: { error: Record<string, unknown> };
};

/**
 * Starts only the HTTP server, with these bindings, keys such as 'key-of-ada', and an empty web app. It is
 * closed when the test file ends.
 */
export async function serve(
  bindings: Binding[],
  settings: Record<string, string> = {},
  checkReady: () => Promise<unknown> = async () => undefined,
) {
  const logged: string[] = [];
  const webDist = await emptyWebApp();
  const log = pino({ level: 'info' }, { write: (line) => void logged.push(line) });
  const blobs = { linkOrigin: null };
  const services = { config: readConfig(settings), log, webProcesses: () => 1, blobs } as unknown as Services;
  const app = await buildHttpServer({
    services,
    metrics: new Registry(),
    checkReady,
    authenticators: {
      key: async (key) =>
        key.startsWith('key-of-')
          ? { kind: 'user', userId: key.slice(7), isOperator: key === 'key-of-root' }
          : null,
      session: async ({ headers }) =>
        headers.cookie === 'session=ada' ? { kind: 'user', userId: 'ada', isOperator: false } : null,
      workload: async (workloadId, token) =>
        token === `token-of-${workloadId}`
          ? { kind: 'workload', workloadId, tokenSha256: hashToken(token) }
          : null,
    },
    bindings,
    plugins: [],
    operationIds: new Map(),
    furtherPaths: {},
    webDist,
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const address = app.server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  onFileEnd(() => app.close());
  const call = async (target: string, init: RequestInit = {}): Promise<Answer> => {
    const response = await fetch(url + target, init);
    const text = await response.text();
    const json = response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : null;
    return { status: response.status, headers: Object.fromEntries(response.headers), text, json };
  };
  const post = (body: unknown, headers: Record<string, string> = {}) =>
    call('/api/v1/test', {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', ...headers },
    });
  return { app, url, call, post, logged };
}

async function emptyWebApp(): Promise<string> {
  const dist = await temporaryFolder();
  await mkdir(path.join(dist, 'assets'));
  await writeFile(path.join(dist, 'index.html'), '<!doctype html><title>Bakehouse</title>');
  await writeFile(path.join(dist, 'assets/app-a1b2c3.js'), 'export {}');
  return dist;
}
