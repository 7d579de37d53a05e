import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import * as contract from '@bakehouse/contract/assets';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { type FakeClock, fakeClock } from '../../testing/fake-clock.ts';
import { realPython } from '../../testing/real-python.ts';
import { type TestServer, type TestUser, testServer } from '../../testing/test-server.ts';
import { inTransaction } from '../db/in-transaction.ts';
import { noErrorReports } from '../error-reports/error-reports.ts';
import type { Reported } from '../error-reports/to-event.ts';
import { beginDeletion, listLeftDeletions, resumeDeletion } from './blob-deletions.ts';
import { deleteUnownedBlob } from './owner-queries.ts';
import { readBlob } from './read-blob.ts';
import { scrubBlobs, scrubBlobsJob } from './scrub-blobs.ts';
import { collectBlob, storeBlob } from './store-blob.ts';

let server: TestServer;
let clock: FakeClock;
let ada: TestUser;
let id: string;

const reported: Reported[] = [];

beforeAll(async () => {
  clock = fakeClock();
  const errorReports = { ...noErrorReports, isOn: true, report: (one: Reported) => void reported.push(one) };
  server = await testServer({ clock, errorReports, config: { ...realPython, logLevel: 'error' } });
  ada = await server.signUp('Ada');
  const body = { dataset_type: 'RAW', title: 'Rotten', user_id: ada.userId } as const;
  id = await server.request(contract.createAsset, { body }, { as: ada });
});

async function upload(name: string, bytes: Buffer<ArrayBuffer>): Promise<string> {
  const form = new FormData();
  form.append('data_file', new Blob([bytes]), name);
  const response = await fetch(`${server.url}/api/v1/asset/${id}/upload`, {
    method: 'POST',
    headers: { 'x-api-key': ada.apiKey },
    body: form,
  });
  const { file } = (await response.json()) as { file: { sha256: string } };
  return file.sha256;
}

function download(name: string, headers: Record<string, string> = {}): Promise<Response> {
  return server.send(contract.downloadFile, { params: { id, '*': name }, query: {} }, { as: ada, headers });
}

/** Path of the bytes in the local store. */
function placeOf(sha256: string): string {
  return path.join(server.services.config.dataDir, 'blobs', sha256.slice(0, 2), sha256.slice(2));
}

/** Replaces the bytes with others. */
async function damage(sha256: string, bytes: Buffer): Promise<void> {
  await writeFile(placeOf(sha256), bytes.with(bytes.length - 1, bytes.at(-1) === 0 ? 1 : 0));
}

async function damagedCount(): Promise<number> {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  return Number(/^bakehouse_blobs_damaged (\d+)$/m.exec(text)?.[1]);
}

async function refusal(response: Response): Promise<[number, string]> {
  const { error } = (await response.json()) as { error: { message: string } };
  return [response.status, error.message];
}

const sentence = (name: string) =>
  `The stored bytes of ${name} are damaged. Upload the file again, ` +
  'or ask the operator of this server to restore it from a backup.';

test('a storage error before the first byte fails the read, and nothing else', async () => {
  const bytes = new Readable({ read: () => undefined });
  const blobs = { ...server.services.blobs, read: async () => bytes };
  const stream = await readBlob({ ...server.services, blobs }, { sha256: 'a'.repeat(64), path: 'a' });
  bytes.destroy(new Error('gone'));
  await vi.waitFor(() => expect(stream.destroyed).toBe(true));
  await expect(buffer(stream)).rejects.toThrow('gone');
});

test('a file that is never read is closed with its stream', async () => {
  const bytes = Readable.from(['never read']);
  const blobs = { ...server.services.blobs, read: async () => bytes };
  const stream = await readBlob({ ...server.services, blobs }, { sha256: 'a'.repeat(64), path: 'a.csv' });
  const closed = once(stream, 'close');
  stream.destroy();
  await closed;
  expect(bytes.destroyed).toBe(true);
});

describe('damaged bytes', () => {
  test('abort a download before its end, are named afterwards, and are repaired by uploading them again', async () => {
    const bytes = randomBytes(3_000_000);
    const sha256 = await upload('large.bin', bytes);
    await damage(sha256, bytes);
    const broken = await download('large.bin');
    expect(broken.status).toBe(200);
    await expect(broken.arrayBuffer()).rejects.toThrow();
    await expect.poll(damagedCount).toBe(1);

    expect(await refusal(await download('large.bin'))).toEqual([409, sentence('large.bin')]);
    expect(await refusal(await download('large.bin', { range: 'bytes=0-9' }))).toEqual([
      409,
      sentence('large.bin'),
    ]);

    await upload('large.bin', bytes);
    expect(Buffer.from(await (await download('large.bin')).arrayBuffer()).equals(bytes)).toBe(true);
    expect(await damagedCount()).toBe(0);
  });

  test('of a small file are never sent; a missing file is reported too', async () => {
    const bytes = randomBytes(500);
    const sha256 = await upload('small.bin', bytes);
    await damage(sha256, bytes);
    expect(await refusal(await download('small.bin'))).toEqual([409, sentence('small.bin')]);
    await upload('small.bin', bytes);
    // The report to the external service does not contain the user's file name.
    expect(reported.at(-1)).toMatchObject({ tags: { logged: 'stored bytes are damaged' } });
    expect(JSON.stringify(reported.at(-1)?.tags)).not.toContain('small');
    await rm(placeOf(sha256));
    expect(await refusal(await download('small.bin'))).toEqual([409, sentence('small.bin')]);
    await upload('small.bin', bytes);
    expect((await download('small.bin')).status).toBe(200);
  });

  test('found by a slow read do not count if the file has been replaced in the meantime', async () => {
    const bytes = randomBytes(3_000_000);
    const sha256 = await upload('again.bin', bytes);
    await damage(sha256, bytes);
    const slow = await readBlob(server.services, { sha256, path: 'again.bin' });
    await once(slow, 'readable');
    await upload('again.bin', bytes);
    await expect(buffer(slow)).rejects.toThrow(sentence('again.bin'));
    expect((await download('again.bin')).status).toBe(200);
  });

  test("are reported by name if a user opens the file's rows", async () => {
    const bytes = Buffer.from('a,b\n1,2\n');
    await rm(placeOf(await upload('rows.csv', bytes)));
    const preview = () =>
      server.send(contract.previewFile, { params: { id }, query: { path: 'rows.csv' } }, { as: ada });
    expect(await refusal(await preview())).toEqual([409, sentence('rows.csv')]);
    await upload('rows.csv', bytes);
    expect((await preview()).status).toBe(200);
  });

  test('of a card do not hide its asset', async () => {
    const bytes = Buffer.from('# A card');
    await damage(await upload('README.md', bytes), bytes);
    expect((await server.request(contract.getAsset, { params: { id } }, { as: ada })).card).toBeNull();
    await upload('README.md', bytes);
  });
});

describe('scrubbing', () => {
  test('finds damage without reads by users, oldest first, and notices repaired files', async () => {
    const pieces = [randomBytes(100), randomBytes(200)];
    const names = await Promise.all(pieces.map((bytes, at) => upload(`piece-${at}`, bytes)));
    await damage(names[1] ?? '', pieces[1] ?? Buffer.alloc(0));
    await scrubBlobsJob.run(server.services, {}, AbortSignal.timeout(20_000));
    expect(await damagedCount()).toBe(0);

    clock.advance({ days: 31 });
    await scrubBlobsJob.run(server.services, {}, AbortSignal.timeout(20_000));
    expect(await damagedCount()).toBe(1);
    expect(await refusal(await download('piece-1'))).toEqual([409, sentence('piece-1')]);
    expect((await download('piece-0')).status).toBe(200);

    // The operator restores the bytes, and starts a scrub of all blobs.
    await writeFile(placeOf(names[1] ?? ''), pieces[1] ?? '');
    clock.advance({ minutes: 1 });
    const checked: boolean[] = [];
    await scrubBlobs(server.services, {
      uncheckedSince: clock.now(),
      onChecked: ({ isGood }) => checked.push(isGood),
    });
    expect(checked.length).toBeGreaterThan(3);
    expect(checked).not.toContain(false);
    expect(await damagedCount()).toBe(0);
  });

  test('skips unreadable files, and checks them again in the next run', async () => {
    clock.advance({ days: 31 });
    await Promise.all([1, 2].map((at) => upload(`more-${at}`, randomBytes(100))));
    const before = await server.services.db
      .selectFrom('blobs')
      .select(['sha256', 'checked_at'])
      .orderBy('checked_at')
      .execute();
    const { blobs } = server.services;
    const [locked] = before;
    const refuse = (sha256: string) =>
      sha256 === locked?.sha256 ? Promise.reject(new Error('EACCES: permission denied')) : blobs.read(sha256);
    const [checked, unreadable]: [string[], string[]] = [[], []];
    const scrub = (read: typeof blobs.read) =>
      scrubBlobs(
        { ...server.services, blobs: { ...blobs, read } },
        {
          uncheckedSince: clock.now(),
          onChecked: ({ sha256, isGood }) => void (isGood && checked.push(sha256)),
          onUnreadable: (sha256) => unreadable.push(sha256),
        },
      );
    clock.advance({ minutes: 1 });
    await scrub(refuse);
    expect(unreadable).toEqual([locked?.sha256]);
    expect(checked).toHaveLength(before.length - 1);
    expect(reported.at(-1)).toMatchObject({ tags: { logged: 'failed to read stored bytes' } });
    await scrub(blobs.read);
    expect(checked.at(-1)).toBe(locked?.sha256);
  });

  test('stops when aborted, and the next run continues from there', async () => {
    clock.advance({ days: 31 });
    const checked: string[] = [];
    const stop = new AbortController();
    const scrub = (signal?: AbortSignal) =>
      scrubBlobs(server.services, {
        uncheckedSince: clock.now(),
        ...(signal && { signal }),
        onChecked: ({ sha256 }) => {
          checked.push(sha256);
          stop.abort();
        },
      });
    clock.advance({ minutes: 1 });
    await scrub(stop.signal);
    expect(checked).toHaveLength(1);
    await scrub();
    expect(new Set(checked).size).toBe(checked.length);
  });
});

describe('collecting', () => {
  const later = () => new Date(Date.now() + 1000);

  test('retains bytes that are stored again while they are being deleted', async () => {
    const bytes = randomBytes(2000);
    const { sha256 } = await storeBlob(server.services, Readable.from([bytes]));
    for (let round = 0; round < 20; round += 1) {
      const [stored] = await Promise.all([
        storeBlob(server.services, Readable.from([bytes])),
        collectBlob(server.services, { sha256, untouchedSince: later() }),
        collectBlob(server.services, { sha256, untouchedSince: later() }),
      ]);
      const row = await server.services.db
        .selectFrom('blobs')
        .select('sha256')
        .where('sha256', '=', stored.sha256)
        .executeTakeFirst();
      const isThere = await readBlob(server.services, { sha256, path: 'x' }).then(
        async (found) => (await buffer(found)).equals(bytes),
        () => false,
      );
      // Whichever transaction came first, referenced bytes exist.
      expect(isThere || row === undefined).toBe(true);
    }
  });

  const isKnown = async (sha256: string) => {
    const { db } = server.services;
    const row = await db.selectFrom('blobs').select('sha256').where('sha256', '=', sha256).executeTakeFirst();
    return row !== undefined;
  };

  test.each([
    ['before its bytes are deleted', false],
    ['after its bytes are deleted', true],
  ])('a blob whose collection is interrupted %s is collected again', async (_when, isLate) => {
    const { sha256 } = await storeBlob(server.services, Readable.from([randomBytes(2000)]));
    const { blobs, db } = server.services;
    const interrupted = {
      ...blobs,
      delete: async (name: string) => {
        if (isLate) await blobs.delete(name);
        throw new Error('interrupted');
      },
    };
    const collecting = collectBlob({ db, blobs: interrupted }, { sha256, untouchedSince: later() });
    await expect(collecting).rejects.toThrow('interrupted');
    expect(await isKnown(sha256)).toBe(false);
    expect(await listLeftDeletions(db, 10)).toEqual([sha256]);
    await resumeDeletion(server.services, sha256);
    expect(await listLeftDeletions(db, 10)).toEqual([]);
    expect(await blobs.stat(sha256)).toBeNull();
  });

  test('the deletion of a killed process is resumed only after a while; then the same bytes can be stored again', async () => {
    const bytes = randomBytes(2000);
    const { sha256 } = await storeBlob(server.services, Readable.from([bytes]));
    const { blobs, db } = server.services;
    await inTransaction(db, async (tx) => {
      expect(await deleteUnownedBlob(tx, sha256, later())).toBe(true);
      await beginDeletion(tx, sha256);
    });
    await resumeDeletion(server.services, sha256);
    expect(await blobs.stat(sha256)).not.toBeNull();
    await sql`update blob_deletions set begun_at = now() - interval '11 minutes'`.execute(db);
    await storeBlob(server.services, Readable.from([bytes]));
    expect(await isKnown(sha256)).toBe(true);
    expect(await buffer(await readBlob(server.services, { sha256, path: 'x' }))).toEqual(bytes);
    expect(await listLeftDeletions(db, 10)).toEqual([]);
  });

  test('waits to store bytes while the same bytes are being deleted, and then succeeds', async () => {
    const bytes = randomBytes(2000);
    const { sha256 } = await storeBlob(server.services, Readable.from([bytes]));
    const { blobs, db } = server.services;
    const storing: Promise<unknown>[] = [];
    const watched = {
      ...blobs,
      delete: async (name: string) => {
        let hasCome = false;
        const write: typeof blobs.write = (from, options) =>
          blobs.write(from, {
            ...options,
            beforeVisible: async (blob) => {
              hasCome = true;
              await options?.beforeVisible?.(blob);
            },
          });
        storing.push(storeBlob({ db, blobs: { ...blobs, write } }, Readable.from([bytes])));
        await expect.poll(() => hasCome).toBe(true);
        await blobs.delete(name);
      },
    };
    await collectBlob({ db, blobs: watched }, { sha256, untouchedSince: later() });
    await Promise.all(storing);
    expect(await isKnown(sha256)).toBe(true);
    expect(await buffer(await readBlob(server.services, { sha256, path: 'x' }))).toEqual(bytes);
  });
});
