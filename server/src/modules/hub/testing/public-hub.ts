import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onFileEnd } from '../../../testing/on-file-end.ts';

/** A repository of the test hub. */
export type HubRepo = {
  type: 'model' | 'dataset';
  id: string;
  files: Record<string, string | Buffer>;
  /** Accounts that have accepted the repository's terms. If undefined, the repository is not gated. */
  gatedFor?: string[];
  card?: Record<string, unknown>;
  downloads?: number;
};

/** Handles a request instead of the test hub. Returns undefined to let the hub handle it. */
type Instead = (
  request: IncomingMessage,
  response: ServerResponse,
  file: string | null,
) => boolean | undefined;

export type PublicHub = {
  url: string;
  repos: HubRepo[];
  /** Account names by token. */
  accounts: Record<string, string>;
  /** Requests for bytes: the path of the file, and its range. */
  requests: { file: string; range: string | null; authorization: string | null }[];
  instead: Instead | null;
  /** Overrides of the file list, by path. */
  listed: Record<string, { size?: number; sha256?: string; path?: string }>;
  close: () => Promise<void>;
};

/** Files of at least this size count as LFS files and are served from the second origin. */
const LFS_BYTES = 1024;
/** Files per page of the list. */
const PAGE = 20;

export const commitOf = (repo: HubRepo) =>
  createHash('sha1')
    .update(JSON.stringify(Object.entries(repo.files).map(([path, content]) => [path, sha256Of(content)])))
    .digest('hex');

const hashes = new WeakMap<Buffer, string>();
/** Caches the hashes of large files. */
function sha256Of(content: string | Buffer): string {
  const known = typeof content === 'string' ? undefined : hashes.get(content);
  const sha256 = known ?? createHash('sha256').update(content).digest('hex');
  if (typeof content !== 'string') hashes.set(content, sha256);
  return sha256;
}
const toBuffer = (content: string | Buffer) => (typeof content === 'string' ? Buffer.from(content) : content);
const gitSha1Of = (content: Buffer) =>
  createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');

/**
 * Starts a small server that imitates the public hub, with a second origin for the bytes of large files.
 * Closes when the test file ends.
 */
export async function openPublicHub(repos: HubRepo[], options: { port?: number } = {}): Promise<PublicHub> {
  const bytes = await listen((request, response) => {
    const content = contents(hub.repos).get((request.url ?? '').slice(1));
    recordRequest(hub, request, content?.path ?? '');
    if (hub.instead?.(request, response, content?.path ?? null)) return;
    if (content) sendFile(request, response, content.bytes);
    else response.writeHead(404).end();
  });
  const main = await listen((request, response) => answer(hub, bytes.url, request, response), options.port);
  const close = onFileEnd(async () => {
    await Promise.all([main.close(), bytes.close()]);
  });
  const hub: PublicHub = {
    ...{ url: main.url, repos, accounts: {}, requests: [], instead: null, listed: {}, close },
  };
  return hub;
}

function contents(repos: HubRepo[]): Map<string, { path: string; bytes: Buffer }> {
  return new Map(
    repos.flatMap(({ files }) =>
      Object.entries(files).map(([path, content]) => [sha256Of(content), { path, bytes: toBuffer(content) }]),
    ),
  );
}

function recordRequest(hub: PublicHub, { headers }: IncomingMessage, file: string): void {
  hub.requests.push({
    file,
    range: headers.range ?? null,
    authorization: headers.authorization ?? null,
  });
}

function answer(hub: PublicHub, bytesUrl: string, request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? '', hub.url);
  const account = hub.accounts[(request.headers.authorization ?? '').replace('Bearer ', '')];
  const [, kind, id = '', call, rest = ''] =
    /^\/api\/(models|datasets)\/(.+?)\/(revision|tree|auth-check)(?:\/(.*))?$/.exec(url.pathname) ?? [];
  const resolved = /^\/(datasets\/)?(.+?)\/resolve\/([0-9a-f]{40})\/(.+)$/.exec(url.pathname);
  if (resolved === null && hub.instead?.(request, response, null)) return;
  if (url.pathname === '/api/whoami-v2') {
    if (account) return sendJson(response, 200, { type: 'user', name: account, auth: {} });
    return sendJson(response, 401, { error: 'Invalid credentials' });
  }
  const listing = /^\/api\/(models|datasets)$/.exec(url.pathname);
  if (listing)
    return sendJson(response, 200, search(hub, url, listing[1] === 'models' ? 'model' : 'dataset'));
  if (kind) {
    const repo = find(hub, kind === 'models' ? 'model' : 'dataset', id);
    if (!repo) return notFound(response);
    if (call === 'revision') return sendJson(response, 200, describe(repo));
    if (call === 'tree') return sendTree(hub, response, url, repo, rest);
    return mayRead(repo, account) ? sendJson(response, 200, {}) : gated(response);
  }
  if (!resolved) return notFound(response);
  const [, prefix, name = '', commit, path = ''] = resolved;
  const repo = find(hub, prefix ? 'dataset' : 'model', name);
  const file = decodeURIComponent(path);
  const content = repo?.files[file];
  if (!repo) return notFound(response);
  if (commit !== commitOf(repo)) return notFound(response, 'RevisionNotFound');
  if (content === undefined) return notFound(response, 'EntryNotFound');
  if (!mayRead(repo, account)) return gated(response);
  const body = toBuffer(content);
  if (body.length >= LFS_BYTES) {
    response.writeHead(302, { location: `${bytesUrl}/${sha256Of(content)}`, 'x-repo-commit': commit }).end();
    return;
  }
  recordRequest(hub, request, file);
  if (!hub.instead?.(request, response, file)) sendFile(request, response, body);
}

function find({ repos }: PublicHub, type: HubRepo['type'], id: string): HubRepo | undefined {
  return repos.find((repo) => repo.type === type && repo.id === id);
}

function search(hub: PublicHub, url: URL, type: HubRepo['type']): object[] {
  const words = (url.searchParams.get('search') ?? '').toLowerCase();
  return hub.repos
    .filter((repo) => repo.type === type && repo.id.toLowerCase().includes(words))
    .toSorted((a, b) => (b.downloads ?? 0) - (a.downloads ?? 0))
    .slice(0, Number(url.searchParams.get('limit') ?? 1000))
    .map(describe);
}

function describe(repo: HubRepo): object {
  return {
    ...{ _id: `_${repo.id}`, id: repo.id, sha: commitOf(repo), private: false },
    ...{ gated: repo.gatedFor ? 'manual' : false, downloads: repo.downloads ?? 0, likes: 7 },
    ...{ lastModified: '2026-05-01T00:00:00.000Z', cardData: repo.card ?? {}, tags: ['bread'] },
    ...(repo.type === 'model' && { pipeline_tag: 'text-generation' }),
  };
}

function sendTree(hub: PublicHub, response: ServerResponse, url: URL, repo: HubRepo, revision: string): void {
  if (revision !== commitOf(repo)) return notFound(response);
  const entries = Object.entries(repo.files).map(([path, content]) => {
    const body = toBuffer(content);
    const { size = body.length, sha256 = sha256Of(content), path: shown = path } = hub.listed[path] ?? {};
    const isLarge = body.length >= LFS_BYTES;
    const lfs = isLarge && { lfs: { oid: sha256, size, pointerSize: 130 } };
    return { type: 'file', oid: isLarge ? '0'.repeat(40) : gitSha1Of(body), size, path: shown, ...lfs };
  });
  const start = Number(url.searchParams.get('cursor') ?? 0);
  const next = new URL(url);
  next.searchParams.set('cursor', String(start + PAGE));
  const link = start + PAGE < entries.length && { link: `<${next.href}>; rel="next"` };
  response.writeHead(200, { 'content-type': 'application/json', ...link });
  response.end(JSON.stringify(entries.slice(start, start + PAGE)));
}

/** Sends bytes, or the requested range. */
export function sendFile(request: IncomingMessage, response: ServerResponse, body: Buffer): void {
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
  if (first === undefined) {
    response.writeHead(200, { 'content-length': body.length }).end(body);
    return;
  }
  const part = body.subarray(Number(first), Number(last) + 1);
  response.writeHead(206, {
    'content-length': part.length,
    'content-range': `bytes ${first}-${Number(first) + part.length - 1}/${body.length}`,
  });
  response.end(part);
}

function mayRead({ gatedFor }: HubRepo, account: string | undefined): boolean {
  return gatedFor === undefined || (account !== undefined && gatedFor.includes(account));
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function notFound(response: ServerResponse, code = 'RepoNotFound'): void {
  response.writeHead(404, { 'x-error-code': code }).end('{"error":"Not found"}');
}

function gated(response: ServerResponse): void {
  response.writeHead(403, { 'x-error-code': 'GatedRepo' }).end('{"error":"Access is restricted"}');
}

async function listen(
  handle: (request: IncomingMessage, response: ServerResponse) => void,
  port = 0,
): Promise<{ url: string; close: () => Promise<void> }> {
  const server = createServer(handle);
  await new Promise<void>((done) => server.listen(port, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
