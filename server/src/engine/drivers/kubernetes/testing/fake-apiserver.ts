import { mkdtemp, writeFile } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type FakeObject, FakeStore } from './fake-store.ts';
import { FakeWatches } from './fake-watches.ts';
import { sendLog } from './send-log.ts';

/*
 * In-memory subset of the Kubernetes API that the driver uses, with the Job controller and the garbage
 * collector. The suite that runs against both verifies it against kube-apiserver 1.36.
 */

export type FakeApiserver = {
  /** Path of a kubeconfig for it. */
  kubeconfig: string;
  /** Calls by method and path, without the query. */
  calls: string[];
  /** Answers the next `times` calls with this status. */
  fail: (status: number, times: number) => void;
  /**
   * Rejects the next call, and all calls within `seconds` after it, with Retry-After. `refused` counts the
   * rejected calls.
   */
  throttle: (seconds: number) => { refused: () => number };
  /** Number of failures requested with `fail` that have not happened yet. */
  pending: () => number;
  /** Disconnects all watches like a broken network. With `forget`, earlier resource versions expire. */
  cut: (options?: { forget: boolean }) => void;
  /**
   * Sets the response of a path that has no objects, such as one of an aggregated API. Other such paths
   * return 404.
   */
  serve: (path: string, status: number, body: unknown) => void;
  /** Snapshots all objects. The returned function restores them without notifying watchers. */
  keep: () => () => void;
  list: (kind: string) => FakeObject[];
  change: (kind: string, name: string, patch: object) => void;
  /** Sets the output of pods. */
  setLogs: (logs: (podName: string) => string[]) => void;
  close: () => Promise<void>;
};

type Throttle = { seconds: number; until: number | null; refused: number };

const CLUSTER_ID = '6f1c1a52-2f64-4f0d-9d0e-3b8c5f0f7a11';
const NODE = {
  metadata: { name: 'fake', labels: {} },
  status: {
    allocatable: { cpu: '16', memory: '64Gi' },
    conditions: [{ type: 'Ready', status: 'True' }],
  },
};

export async function startFakeApiserver(): Promise<FakeApiserver> {
  const store = new FakeStore();
  store.handle('POST', new URL('http://localhost/api/v1/nodes'), NODE);
  const watches = new FakeWatches(store);
  const calls: string[] = [];
  const faults: number[] = [];
  let logs: (podName: string) => string[] = () => [];
  let throttled: Throttle | null = null;
  const served = new Map<string, [number, unknown]>();

  async function respond(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://localhost');
    calls.push(`${request.method} ${url.pathname}`);
    const status = faults.shift();
    if (status !== undefined) return answer(response, status, { message: `a fault of the test: ${status}` });
    if (throttled && sendThrottled(throttled, response)) return;
    const body = await readBody(request);
    if (url.searchParams.get('watch') === '1') return watches.open(url, response);
    const [, pod] = /\/pods\/([^/]+)\/log$/.exec(url.pathname) ?? [];
    if (pod) return sendLog(response, logs(pod), url.searchParams);
    const [code, result] =
      served.get(url.pathname) ?? answerItself(url, body) ?? store.handle(request.method ?? 'GET', url, body);
    return answer(response, code, result);
  }
  const server = http.createServer((request, response) => void respond(request, response));

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const dir = await mkdtemp(path.join(tmpdir(), 'fake-apiserver-'));
  const kubeconfig = path.join(dir, 'kubeconfig');
  await writeFile(kubeconfig, kubeconfigOf(`http://127.0.0.1:${port}`));
  return {
    kubeconfig,
    calls,
    fail: (status, times) => void faults.push(...Array.from({ length: times }, () => status)),
    throttle: (seconds) => {
      const made: Throttle = { seconds, until: null, refused: 0 };
      throttled = made;
      return { refused: () => made.refused };
    },
    pending: () => faults.length,
    cut: ({ forget } = { forget: false }) => {
      if (forget) store.forget();
      watches.cut();
    },
    serve: (place, code, body) => void served.set(place, [code, body]),
    keep: () => store.keep(),
    list: (kind) => store.list(kind),
    change: (kind, name, patch) => store.change(kind, name, patch),
    setLogs: (given) => {
      logs = given;
    },
    close: async () => {
      watches.cut();
      await new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      });
    },
  };
}

/** Requests that concern no object: access reviews (always allowed), dry runs, and the list of namespaces. */
function answerItself(url: URL, body: unknown): [number, unknown] | null {
  if (url.pathname.endsWith('/selfsubjectaccessreviews')) return [201, { status: { allowed: true } }];
  if (url.searchParams.get('dryRun') === 'All') return [201, body];
  if (url.pathname === '/api/v1/namespaces/kube-system') return [200, { metadata: { uid: CLUSTER_ID } }];
  return null;
}

/** Returns true if the call is rejected because the API server is busy. */
function sendThrottled(throttle: Throttle, response: http.ServerResponse): boolean {
  if (throttle.until !== null && performance.now() >= throttle.until) return false;
  throttle.refused += 1;
  throttle.until ??= performance.now() + throttle.seconds * 1000;
  response.setHeader('retry-after', throttle.seconds);
  answer(response, 429, { message: 'too many requests' });
  return true;
}

function answer(response: http.ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

async function readBody(request: http.IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString('utf8');
  return text === '' ? undefined : JSON.parse(text);
}

function kubeconfigOf(server: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'fake', cluster: { server, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'fake', user: { token: 'a-token-of-the-test' } }],
    contexts: [{ name: 'fake', context: { cluster: 'fake', user: 'fake' } }],
    'current-context': 'fake',
  });
}
