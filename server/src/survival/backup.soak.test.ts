import { randomBytes, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { createAsset, uploadFile } from '@bakehouse/contract/assets';
import { transferTokens } from '@bakehouse/contract/credits';
import { extract, pack } from 'tar-stream';
import { expect, test } from 'vitest';
import { buyForTest } from '../modules/billing/testing/test-user.ts';
import { verifyLedger } from '../modules/billing/verification/verify-ledger.ts';
import { backUp } from '../platform/backup/back-up.ts';
import { restoreBackup } from '../platform/backup/restore-backup.ts';
import { connect } from '../platform/db/database.ts';
import { prepareDatabase } from '../platform/db/setup/prepare-database.ts';
import { discardEmbeddedPostgres, startEmbeddedPostgres } from '../platform/postgres/embedded-postgres.ts';
import { openLocalBlobStore } from '../platform/storage/local-blob-store.ts';
import { onFileEnd } from '../testing/on-file-end.ts';
import { temporaryFolder } from '../testing/temporary-folder.ts';
import { type TestServer, testServer } from '../testing/test-server.ts';

const settings = { fsync: 'off' };
const dataDir = await temporaryFolder();
const target = await temporaryFolder();
const server = await serverOn(dataDir);
const [ada, bob] = [await server.signUp('Ada'), await server.signUp('Bob')];

/** The whole program with its own embedded PostgreSQL, as `up` starts it. */
async function serverOn(dir: string): Promise<TestServer> {
  await writeFile(path.join(dir, 'secret'), `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600 });
  const url = await databaseIn(dir);
  await prepareDatabase(url);
  return testServer({ database: { url, close: async () => undefined }, config: { dataDir: dir } });
}

async function databaseIn(dir: string): Promise<string> {
  const cluster = path.join(dir, 'postgres');
  onFileEnd(() => discardEmbeddedPostgres(cluster));
  return (await startEmbeddedPostgres({ dir: cluster, settings })).url;
}

/**
 * Sends credits and uploads files one after the other until it is stopped. Returns how many of these calls
 * were acknowledged.
 */
function load(assetId: string) {
  let goesOn = true;
  const acknowledged = { sends: 0, files: 0 };
  const running = (async () => {
    for (let round = 0; goesOn; round += 1) {
      const body = { user_id: ada.userId, recipient_id: bob.email, amount: '0.01' };
      await server.request(transferTokens, { body }, { as: ada, idempotencyKey: randomUUID() });
      acknowledged.sends += 1;
      const form = new FormData();
      form.append('data_file', new Blob([randomBytes(40_000)]), `file-${round}.bin`);
      const put = await fetch(`${server.url}${uploadFile.path.replace(':id', assetId)}`, {
        method: 'POST',
        headers: { 'x-api-key': ada.apiKey },
        body: form,
      });
      expect(put.status).toBe(200);
      acknowledged.files += 1;
    }
  })();
  return {
    acknowledged,
    end: async () => {
      goesOn = false;
      await running;
    },
  };
}

test('a backup made under load restores to a complete server', async () => {
  await buyForTest(server.services.db, ada.userId, 100_000_000n);
  const body = { dataset_type: 'RAW', title: 'Growing', user_id: ada.userId } as const;
  const work = load(await server.request(createAsset, { body }, { as: ada }));
  await expect.poll(() => work.acknowledged.files).toBeGreaterThan(3);
  const before = { ...work.acknowledged };
  const file = path.join(target, 'online.tar');
  await writeFile(path.join(dataDir, 'files-lie-in'), 's3://loaves/\n');
  const { blobs } = await backUp({ dataDir, file });
  const after = { ...work.acknowledged };
  await expect.poll(() => work.acknowledged.files).toBeGreaterThan(after.files);
  await work.end();
  expect(blobs).toBeGreaterThanOrEqual(before.files);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  await expect(backUp({ dataDir, file })).rejects.toThrow(`${file} exists already`);

  const restored = path.join(target, 'restored');
  expect((await restoreBackup({ file, dataDir: restored })).blobs).toBe(blobs);
  expect(await readFile(path.join(restored, 'secret'))).toEqual(await readFile(path.join(dataDir, 'secret')));
  expect(await readFile(path.join(restored, 'files-lie-in'), 'utf8')).toBe('s3://loaves/\n');
  const db = connect(await databaseIn(restored));
  try {
    const report = await verifyLedger(db);
    expect(report.checks.filter((check) => !check.ok)).toEqual([]);
    const sends = await db
      .selectFrom('ledger_transfers')
      .select('id')
      .where('amount', '=', 10_000n)
      .execute();
    expect(sends.length).toBeGreaterThanOrEqual(before.sends);
    expect(sends.length).toBeLessThanOrEqual(after.sends + 1);

    const files = await db.selectFrom('asset_files').select('sha256').execute();
    expect(files.length).toBeGreaterThanOrEqual(before.files);
    const store = await openLocalBlobStore(path.join(restored, 'blobs'));
    // Reading a whole blob fails if its bytes do not match its name.
    for (const { sha256 } of files) await buffer(await store.read(sha256));
  } finally {
    await db.destroy();
  }

  await expect(restoreBackup({ file, dataDir: restored })).rejects.toThrow(
    `${restored} is not empty: restore into a folder that is`,
  );
}, 120_000);

test('of two concurrent backups with one name, the second is rejected and leaves nothing', async () => {
  const folder = await temporaryFolder();
  const file = path.join(folder, 'twice.tar');
  const results = await Promise.allSettled([backUp({ dataDir, file }), backUp({ dataDir, file })]);
  const failed = results.flatMap((result) => (result.status === 'rejected' ? [String(result.reason)] : []));
  expect(failed).toEqual([`Error: ${file} exists already`]);
  expect(await readdir(folder)).toEqual(['twice.tar']);
}, 120_000);

/** Returns the backup up to the entry for which `isLast` returns true, as a complete tar file. */
async function cutBehind(file: string, isLast: (name: string) => boolean): Promise<Buffer> {
  const [tar, cut] = [extract(), pack()];
  const reading = pipeline(createReadStream(file), tar).catch(() => undefined);
  const written = buffer(cut);
  for await (const entry of tar) {
    const bytes = await buffer(entry);
    cut.entry({ ...entry.header, pax: null }, bytes);
    if (isLast(entry.header.name)) break;
  }
  await reading;
  cut.finalize();
  return written;
}

/** Returns the path of one stored file in the data folder. */
async function aBlob(dir: string): Promise<string> {
  const folders = await readdir(path.join(dir, 'blobs'));
  const folder = folders.find((name) => /^[0-9a-f]{2}$/.test(name)) ?? '';
  const [rest] = await readdir(path.join(dir, 'blobs', folder));
  return path.join('blobs', folder, rest ?? '');
}

test('damaged stored files are named by backup and restore, and the other files are restored', async () => {
  const name = await aBlob(dataDir);
  const [place, aside] = [path.join(dataDir, name), path.join(dataDir, 'aside')];
  const cases: [string, () => Promise<unknown>, () => Promise<unknown>][] = [
    ['changed', () => writeFile(place, 'others'), () => rm(place)],
    // Unreadable, as on a broken disk.
    ['unreadable', () => mkdir(place), () => rmdir(place)],
  ];
  await rename(place, aside);
  for (const [kind, damage, mend] of cases) {
    await damage();
    const file = path.join(target, `${kind}.tar`);
    const { blobs, damaged } = await backUp({ dataDir, file });
    expect(damaged, kind).toEqual([name]);
    const into = path.join(target, `from-${kind}`);
    expect(await restoreBackup({ file, dataDir: into }), kind).toMatchObject({ blobs, damaged });
    expect(await readdir(into), kind).toEqual(expect.arrayContaining(['blobs', 'postgres', 'secret']));
    await mend();
  }
  await rename(aside, place);
  const file = path.join(target, 'mended.tar');
  expect((await backUp({ dataDir, file })).damaged).toEqual([]);
}, 120_000);

test('all other files of a damaged backup are restored', async () => {
  const file = path.join(target, 'to-damage.tar');
  const { blobs } = await backUp({ dataDir, file });
  const bytes = await readFile(file);
  const blob = bytes.indexOf('blobs/');
  await writeFile(file, bytes.with(blob + 1024, (bytes[blob + 1024] ?? 0) ^ 1));
  const restored = await restoreBackup({ file, dataDir: path.join(target, 'from-to-damage') });
  expect(restored).toMatchObject({ blobs, damaged: [expect.stringMatching(/^blobs\/[0-9a-f/]+$/)] });
}, 120_000);

test('a truncated or invalid backup is rejected, and leaves nothing', async () => {
  const file = path.join(target, 'good.tar');
  await backUp({ dataDir, file });
  const bytes = await readFile(file);
  const cases: [string, Buffer, RegExp][] = [
    ['first-of-the-log', await cutBehind(file, (name) => name.startsWith('postgres/pg_wal/')), /is cut/],
    ['cut', bytes.subarray(0, bytes.length / 2), /cannot be restored|is cut/],
    ['none', Buffer.from('no archive'.repeat(200)), /cannot be restored|is no backup/],
    ['empty', Buffer.alloc(0), /is cut/],
  ];
  for (const [name, content, message] of cases) {
    const broken = path.join(target, `${name}.tar`);
    await writeFile(broken, content);
    const into = path.join(target, `from-${name}`);
    await expect(restoreBackup({ file: broken, dataDir: into }), name).rejects.toThrow(message);
    expect(await readdir(into), name).toEqual([]);
  }
  const missing = path.join(target, 'missing.tar');
  await expect(restoreBackup({ file: missing, dataDir: path.join(target, 'x') })).rejects.toThrow(
    `There is no file ${missing}`,
  );
}, 120_000);
