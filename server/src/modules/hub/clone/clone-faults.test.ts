import { cancelClone, retryClone } from '@bakehouse/contract/hub/clones';
import { listNotifications } from '@bakehouse/contract/notifications';
import { sql } from 'kysely';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import type { TestServer, TestUser } from '../../../testing/test-server.ts';
import { assetCalls } from '../../assets/testing/asset-calls.ts';
import { cloneCalls, cloningServer, safetensors } from '../testing/clones.ts';
import { type HubRepo, openPublicHub, type PublicHub, sendFile } from '../testing/public-hub.ts';
import { deleteClonesJob } from './clones.ts';

/* Tests clones from a hub that is busy, breaks off, returns wrong data or denies access. */

const WEIGHTS = safetensors(30_000);
const files = {
  'config.json': '{"model_type":"llama"}',
  'README.md': '# Loaf',
  'model.safetensors': WEIGHTS,
};

let hub: PublicHub;
let server: TestServer;
let calls: ReturnType<typeof cloneCalls>;
let ada: TestUser;
let made = 0;
beforeAll(async () => {
  hub = await openPublicHub([]);
  server = await cloningServer(hub);
  calls = cloneCalls(server);
  ada = await server.signUp('Ada');
});
afterEach(() => {
  hub.instead = null;
  hub.listed = {};
});

/** Adds a repository with unique weights: the server would not fetch bytes that the user already stores. */
function repo(more: Partial<HubRepo> = {}): HubRepo {
  made += 1;
  const own = { ...files, 'model.safetensors': safetensors(30_000 + made, made) };
  const made_ = { type: 'model' as const, id: `bakery/loaf-${made}`, files: own, ...more };
  hub.repos.push(made_);
  return made_;
}
const weightsOf = ({ files: own }: HubRepo) => own['model.safetensors'] as Buffer;

describe('resumes a clone if the hub', () => {
  test('is busy, after the pause that it requested', async () => {
    let left = 3;
    hub.instead = (_request, response, file) => {
      if (file !== 'model.safetensors' || left === 0) return undefined;
      left -= 1;
      response.writeHead(left === 1 ? 503 : 429, { 'retry-after': '0' }).end();
      return true;
    };
    const { id, status } = await calls.clone(ada, repo().id);
    expect(status).toBe('COMPLETED');
    expect(
      (await calls.logs(ada, id)).filter((line) => line.includes('the hub answered with 429')),
    ).toHaveLength(2);
  });

  test('closes the connection within a file, without requesting any byte twice', async () => {
    const it = repo();
    let cuts = 0;
    hub.instead = (request, response, file) => {
      if (file !== 'model.safetensors' || cuts >= 6) return undefined;
      cuts += 1;
      const first = Number(/bytes=(\d+)/.exec(request.headers.range ?? '')?.[1] ?? 0);
      const body = weightsOf(it).subarray(first);
      response.writeHead(first > 0 ? 206 : 200, {
        'content-length': body.length,
        ...(first > 0 && {
          'content-range': `bytes ${first}-${weightsOf(it).length - 1}/${weightsOf(it).length}`,
        }),
      });
      response.write(body.subarray(0, 1_000), () => response.destroy());
      return true;
    };
    hub.requests = [];
    const done = await calls.clone(ada, it.id);
    expect(done).toMatchObject({ status: 'COMPLETED', bytes_done: done.bytes_total });
    const ranges = hub.requests.filter(({ file }) => file === 'model.safetensors').map(({ range }) => range);
    expect(ranges).toEqual([
      null,
      ...[1, 2, 3, 4, 5, 6].map((cut) => `bytes=${cut * 1_000}-${weightsOf(it).length - 1}`),
    ]);
    const { download } = assetCalls(server);
    const bytes = await (await download(ada, done.asset_id ?? '', 'model.safetensors')).arrayBuffer();
    expect(Buffer.from(bytes)).toEqual(weightsOf(it));
  });

  test('sent wrong bytes once', async () => {
    const it = repo();
    let isFirst = true;
    hub.instead = (request, response, file) => {
      if (file !== 'model.safetensors' || !isFirst) return undefined;
      isFirst = false;
      sendFile(request, response, Buffer.alloc(weightsOf(it).length, 'x'));
      return true;
    };
    const done = await calls.clone(ada, it.id);
    expect(done).toMatchObject({ status: 'COMPLETED', bytes_done: done.bytes_total });
    expect(await calls.logs(ada, done.id)).toContainEqual(expect.stringContaining('its hash differs from'));
  });
});

describe('a clone fails with the reason and leaves no partial asset if the hub', () => {
  /** Returns the failed clone, and checks that no asset and no files remain. */
  const failureOf = async (it: HubRepo) => {
    const failed = await calls.clone(ada, it.id);
    expect(failed).toMatchObject({ status: 'FAILED', asset_id: null });
    expect((await calls.logs(ada, failed.id)).at(-1)).toBe(failed.reason);
    return failed;
  };
  const reasonOf = async (it: HubRepo) => (await failureOf(it)).reason;

  test('does not respond for long; a retry resumes with the files that are already copied', async () => {
    const it = repo();
    hub.instead = (_request, response, file) => {
      if (file !== 'model.safetensors') return undefined;
      response.destroy();
      return true;
    };
    const { id, reason } = await failureOf(it);
    expect(reason).toBe('Hugging Face cannot be reached from this server');
    const [newest] = await server.request(
      listNotifications,
      { params: { userId: ada.userId }, query: {} },
      { as: ada },
    );
    expect(newest).toMatchObject({ kind: 'clone_failed', message: `${it.id} could not be cloned` });
    hub.instead = null;
    hub.requests = [];
    await server.request(retryClone, { params: { id } }, { as: ada });
    expect(await calls.untilEnded(ada, id)).toMatchObject({ status: 'COMPLETED', files_done: 3 });
    // At the failure, other files may have been in flight. The log states how many were left, unless none was
    // copied.
    const logs = (await calls.logs(ada, id)).join('\n');
    const [, left = 3] = /^Going on: ([123]) of 3 files are left/m.exec(logs) ?? [];
    const asked = hub.requests.map(({ file }) => file);
    expect(asked.filter((file) => file === 'model.safetensors')).toHaveLength(1);
    // Some of the files that were left may have been stored shortly after; these are not requested again.
    expect(asked.length).toBeLessThanOrEqual(Number(left));
  });

  test.each([
    ['more', 31_000, /lists model\.safetensors with 30\.27 KB, and sends/],
    ['fewer', 20_000, /lists model\.safetensors with 19\.53 KB, and sends/],
  ])('sends %s bytes than listed', async (_what, size, reason) => {
    hub.listed['model.safetensors'] = { size };
    expect(await reasonOf(repo())).toMatch(reason);
  });

  test('sends endless bytes without a length', async () => {
    hub.instead = (_request, response, file) => {
      if (file !== 'model.safetensors') return undefined;
      response.writeHead(200);
      const more = () => response.write(Buffer.alloc(64 * 1024), (error) => error ?? setImmediate(more));
      more();
      return true;
    };
    expect(await reasonOf(repo())).toMatch(/and sends more than/);
  });

  test('sends different bytes from those that it listed', async () => {
    hub.listed['model.safetensors'] = { sha256: '0'.repeat(64) };
    expect(await reasonOf(repo())).toMatch(
      /^model\.safetensors differs from the hub's listing: its hash is different$/,
    );
    hub.listed = {};
    const small = repo();
    hub.instead = (request, response, file) => {
      if (file !== 'config.json') return undefined;
      sendFile(request, response, Buffer.from('{"model_type":"other"}'));
      return true;
    };
    expect(await reasonOf(small)).toMatch(/^config\.json differs from the hub's listing/);
  });

  test.each(['../../etc/passwd', '/etc/passwd', 'a//b', 'a\\b', 'a/\u202Etxt.exe', '.'])(
    'lists a file %j',
    async (path) => {
      hub.listed['config.json'] = { path };
      expect(await reasonOf(repo())).toMatch(/^The hub lists a file whose name cannot be stored/);
    },
  );

  test('lists a file twice', async () => {
    hub.listed['config.json'] = { path: 'README.md' };
    expect(await reasonOf(repo())).toBe('The hub lists a file twice');
  });

  test('has lost a file, the commit or the repository', async () => {
    let code = 'EntryNotFound';
    hub.instead = (_request, response, file) => {
      if (file !== 'config.json') return undefined;
      response.writeHead(404, code === '' ? {} : { 'x-error-code': code }).end();
      return true;
    };
    for (code of ['EntryNotFound', 'RevisionNotFound', ''])
      expect(await reasonOf(repo()), code).toMatch(
        /^The hub no longer has config\.json of model bakery\/loaf-\d+ at [0-9a-f]{8}\. Clone the repository again/,
      );
    code = 'RepoNotFound';
    expect(await reasonOf(repo())).toMatch(
      /^The public hub has no model bakery\/loaf-\d+ that you may read$/,
    );
  });

  test('redirects to an internal address', async () => {
    for (const location of ['http://10.1.2.3/', 'http://localhost:5432/', 'file:///etc/passwd']) {
      hub.instead = (_request, response, file) => {
        if (file !== 'model.safetensors') return undefined;
        response.writeHead(302, { location }).end();
        return true;
      };
      expect(await reasonOf(repo())).toMatch(/^Hugging Face cannot be reached from this server$/);
    }
  });

  test('has weights that are damaged, disguised pickles, or only pickles', async () => {
    expect(await reasonOf(repo({ files: { 'model.safetensors': Buffer.alloc(5_000, 'x') } }))).toMatch(
      /model\.safetensors is damaged/,
    );
    expect(await reasonOf(repo({ files: { 'pytorch_model.bin': Buffer.alloc(5_000, 1) } }))).toMatch(
      /only Python pickles/,
    );
    expect(await reasonOf(repo({ files: {} }))).toMatch(/has no files$/);
  });

  test("has more than the user's quota", async () => {
    server.services.config.storageGb = 1e-5;
    expect(await reasonOf(repo())).toMatch(/are left\. Delete datasets or models/);
    server.services.config.storageGb = 50;
  });
});

test("deletes a failed clone's files after a week, and the clone after a month", async () => {
  const max = await server.signUp('Max');
  const { db } = server.services;
  const it = repo();
  hub.instead = (_request, response, file) => {
    if (file !== 'model.safetensors') return undefined;
    response.writeHead(404, { 'x-error-code': 'EntryNotFound' }).end();
    return true;
  };
  const { id } = await calls.clone(max, it.id);
  hub.instead = null;
  const kept = async () => {
    const count = async (table: 'hub_clone_files' | 'hub_clone_lines') =>
      (await db.selectFrom(table).selectAll().where('clone_id', '=', id).execute()).length;
    const uploads = await db.selectFrom('uploads').select('id').where('user_id', '=', max.userId).execute();
    return {
      files: await count('hub_clone_files'),
      lines: await count('hub_clone_lines'),
      uploads: uploads.length,
    };
  };
  const forgetAfter = (days: number) =>
    deleteClonesJob.run(
      { ...server.services, clock: { now: () => new Date(Date.now() + days * 24 * 3_600_000) } },
      {},
      new AbortController().signal,
    );
  const before = await kept();
  expect(before).toMatchObject({ files: 3, uploads: 3 });
  await forgetAfter(6.9);
  expect(await kept()).toEqual(before);
  await forgetAfter(7.1);
  expect(await kept()).toEqual({ ...before, files: 0, uploads: 0 });
  await server.request(retryClone, { params: { id } }, { as: max });
  const done = await calls.untilEnded(max, id);
  expect(done).toMatchObject({ status: 'COMPLETED' });
  expect(await assetCalls(server).get(max, done.asset_id ?? '')).toMatchObject({ file_count: 3 });
  await forgetAfter(30.1);
  await expect(calls.status(max, id)).rejects.toMatchObject({ status: 404 });
  expect(await kept()).toEqual({ files: 0, lines: 0, uploads: 0 });
});

test('a retry during the nightly cleanup keeps the copied files, and a clone with a missing file creates nothing', async () => {
  const eve = await server.signUp('Eve');
  const { db } = server.services;
  const it = repo();
  hub.instead = (_request, response, file) => {
    if (file !== 'model.safetensors') return undefined;
    response.writeHead(404, { 'x-error-code': 'EntryNotFound' }).end();
    return true;
  };
  const { id } = await calls.clone(eve, it.id);
  hub.instead = null;
  const kept = async () => {
    const rows = await db.selectFrom('hub_clone_files').select('path').where('clone_id', '=', id).execute();
    return rows.map(({ path }) => path).toSorted();
  };
  const inAWeek = { now: () => new Date(Date.now() + 7.1 * 24 * 3_600_000) };
  const endedAt = (ended_at: Date | null, tx: Database | Transaction = db) =>
    // Due in a week, so that no process copies it for now.
    tx.updateTable('hub_clones').set({ ended_at, check_at: inAWeek.now() }).where('id', '=', id).execute();
  let forgetting: Promise<unknown> = Promise.resolve();
  await inTransaction(db, async (tx) => {
    await endedAt(null, tx);
    const services = { ...server.services, clock: inAWeek };
    forgetting = Promise.resolve(deleteClonesJob.run(services, {}, new AbortController().signal));
    await vi.waitFor(async () => {
      const { rows: waiting } = await sql`select 1 from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
      expect(waiting).toHaveLength(1);
    });
  });
  await forgetting;
  expect(await kept()).toEqual(Object.keys(files).toSorted());

  await endedAt(new Date());
  await db.deleteFrom('hub_clone_files').where('clone_id', '=', id).where('path', '=', 'README.md').execute();
  await server.request(retryClone, { params: { id } }, { as: eve });
  expect(await calls.untilEnded(eve, id)).toMatchObject({ status: 'FAILED', asset_id: null });

  // A missing file must not be replaced by an empty one.
  await db
    .updateTable('uploads')
    .set({ sha256: null, completed_at: null })
    .where('user_id', '=', eve.userId)
    .where('size_bytes', '=', BigInt(files['config.json'].length))
    .execute();
  await db.updateTable('hub_clones').set({ files_total: 2 }).where('id', '=', id).execute();
  await server.request(retryClone, { params: { id } }, { as: eve });
  expect(await calls.untilEnded(eve, id)).toMatchObject({
    status: 'FAILED',
    asset_id: null,
    reason: expect.stringContaining('config.json was copied but is missing'),
  });
});

test('a clone of a gated repository needs access to start, and fails if access is withdrawn', async () => {
  const gated = repo({ gatedFor: ['ada'] });
  await expect(calls.start(ada, gated.id)).rejects.toMatchObject({
    status: 409,
    message: expect.stringContaining('is gated: accept its terms'),
  });
  gated.gatedFor = [];
  await expect(calls.start(ada, gated.id)).rejects.toMatchObject({ status: 409 });
  await expect(calls.start(ada, 'bakery/nowhere')).rejects.toMatchObject({ status: 404 });
  delete gated.gatedFor;
  let asked = 0;
  hub.instead = (_request, response, file) => {
    if (file === null) return undefined;
    asked += 1;
    response.writeHead(403, { 'x-error-code': 'GatedRepo' }).end();
    return true;
  };
  const failed = await calls.clone(ada, gated.id);
  expect(failed).toMatchObject({ status: 'FAILED', reason: expect.stringContaining('is gated') });
  expect(asked).toBeLessThan(5);
  const cancelled = await server.request(cancelClone, { params: { id: failed.id } }, { as: ada });
  expect(cancelled.status).toBe('FAILED');
});
