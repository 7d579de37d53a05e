import { createHash } from 'node:crypto';
import { retryClone } from '@bakehouse/contract/hub/clones';
import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { DamagedParts } from '../../../platform/storage/blob-store.ts';
import type { TestServer, TestUser } from '../../../testing/test-server.ts';
import { assetCalls } from '../../assets/testing/asset-calls.ts';
import { findHubAccess } from '../public/tokens.ts';
import { cloneCalls, cloningServer, testPace } from '../testing/clones.ts';
import { commitOf, type HubRepo, openPublicHub, type PublicHub } from '../testing/public-hub.ts';
import { fetchBytes } from './fetch-bytes.ts';

/* Tests clones onto a disk that loses bytes, clones from a slow hub, and concurrent starts. */

let hub: PublicHub;
let server: TestServer;
let calls: ReturnType<typeof cloneCalls>;
let ada: TestUser;
beforeAll(async () => {
  hub = await openPublicHub([]);
  server = await cloningServer(hub);
  calls = cloneCalls(server);
  ada = await server.signUp('Ada');
});
afterEach(() => {
  hub.instead = null;
});

let made = 0;
function repo(files: HubRepo['files']): HubRepo {
  made += 1;
  const own = { type: 'dataset' as const, id: `bakery/rows-${made}`, files };
  hub.repos.push(own);
  return own;
}

test("concurrent starts do not exceed the user's limit of clones", async () => {
  const ned = await server.signUp('Ned');
  const later = new Date(Date.now() + 3_600_000);
  const waiting = Array.from({ length: 19 }, (_, index) => ({
    ...{ user_id: ned.userId, repo_id: `bakery/roll-${index}`, dataset_type: 'RAW' },
    ...{ commit_id: 'c'.repeat(40), check_at: later, created_at: new Date() },
  }));
  await server.services.db.insertInto('hub_clones').values(waiting).execute();
  const begun = await Promise.allSettled(
    [1, 2, 3, 4].map(() => calls.start(ned, repo({ 'a.csv': 'a\n' }).id, 'RAW')),
  );
  const started = begun.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
  expect(started).toHaveLength(1);
  await Promise.all(started.map(({ id }) => calls.untilEnded(ned, id)));
});

test('fetches a part again that the disk has lost', async () => {
  const it = repo({ 'a.csv': 'a\n3\n' });
  const { parts } = server.services.blobs;
  const complete = vi.spyOn(parts, 'complete').mockRejectedValueOnce(new DamagedParts([1]));
  hub.requests = [];
  const done = await calls.clone(ada, it.id, 'RAW');
  expect(complete).toHaveBeenCalledTimes(2);
  complete.mockRestore();
  expect(done).toMatchObject({ status: 'COMPLETED', bytes_done: done.bytes_total });
  expect(hub.requests.filter(({ file }) => file === 'a.csv')).toHaveLength(2);
});

test('fails a clone if the hub is too slow', async () => {
  const sizeBytes = 30_000;
  const it = repo({ 'large.bin': Buffer.alloc(sizeBytes) });
  hub.instead = (_request, response, file) => {
    if (file !== 'large.bin') return undefined;
    response.writeHead(200, { 'content-length': sizeBytes });
    const drip = setInterval(() => response.write('x'), 5);
    response.once('close', () => clearInterval(drip));
    return true;
  };
  const listed = { path: 'large.bin', sizeBytes, sha256: null, gitSha1: '' };
  const access = await findHubAccess(server.services, ada.userId);
  const pace = { ...testPace, leastBytes: 1_000, leastMs: 50 };
  const bytes = fetchBytes(
    { access, repo: it, revision: commitOf(it), file: listed },
    {
      ...{ start: 0, end: sizeBytes, pace },
      signal: new AbortController().signal,
      onFailure: () => undefined,
    },
  );
  await expect(Array.fromAsync(bytes)).rejects.toThrow('The hub sends large.bin too slowly');
});

test('fetches a file again if its bytes were lost before they were verified', async () => {
  const mia = await server.signUp('Mia');
  const { blobs, db } = server.services;
  const it = repo({ 'a.csv': 'a\n1\n', 'b.csv': 'b\n2\n' });
  hub.instead = (_request, response, file) => {
    if (file !== 'b.csv') return undefined;
    response.writeHead(404, { 'x-error-code': 'EntryNotFound' }).end();
    return true;
  };
  const { id } = await calls.clone(mia, it.id, 'RAW');
  hub.instead = null;
  await db.updateTable('hub_clone_files').set({ is_copied: false }).where('clone_id', '=', id).execute();
  await blobs.delete(createHash('sha256').update('a\n1\n').digest('hex'));
  await server.request(retryClone, { params: { id } }, { as: mia });
  const done = await calls.untilEnded(mia, id);
  expect(done).toMatchObject({ status: 'COMPLETED', bytes_done: done.bytes_total });
  const bytes = await assetCalls(server).download(mia, done.asset_id ?? '', 'a.csv');
  expect(await bytes.text()).toBe('a\n1\n');
});
