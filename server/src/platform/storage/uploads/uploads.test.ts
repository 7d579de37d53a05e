import { createHash, randomBytes } from 'node:crypto';
import { readdir, rename } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { effort } from '../../../testing/soak.ts';
import { testServer } from '../../../testing/test-server.ts';
import { inTransaction } from '../../db/in-transaction.ts';
import type { BlobStore } from '../blob-store.ts';
import { openLocalBlobStore } from '../local-blob-store.ts';
import { findStoredBytes, listUnownedBlobs } from '../owner-queries.ts';
import { completeUpload } from './complete-upload.ts';
import { insertPart, selectParts, sumUnfinished } from './queries.ts';
import { receivePart } from './receive-part.ts';
import { choosePartBytes, countParts, type Upload } from './upload.ts';
import { endUpload, openUpload, releaseUpload, sweepUploadsJob } from './uploads.ts';

const server = await testServer();
const { db } = server.services;
const [{ userId: ada }, { userId: bob }] = await Promise.all([server.signUp('Ada'), server.signUp('Bob')]);
const folder = path.join(server.services.config.dataDir, 'blobs');

const PART = 64 * 1024;
const newBytes = () => randomBytes(3 * PART + 100);
const hashOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const partOf = (bytes: Buffer, number: number) => bytes.subarray((number - 1) * PART, number * PART);

type Words = { userId?: string; sha256?: string | null };
const open = (bytes: Buffer, { userId = ada, sha256 = null }: Words = {}) =>
  openUpload(server.services, {
    userId,
    sizeBytes: bytes.length,
    sha256,
    partBytes: PART,
  });
type Sent = { sha256?: string | null; userId?: string; content?: Buffer; blobs?: BlobStore };
const send = (upload: Upload, bytes: Buffer, number: number, sent: Sent = {}) => {
  const { content = partOf(bytes, number), userId = ada, blobs = server.services.blobs } = sent;
  const sha256 = sent.sha256 === undefined ? hashOf(content) : sent.sha256;
  return receivePart(
    { db, blobs },
    { uploadId: upload.id, userId, number, sha256, bytes: Readable.from([content]) },
  );
};
const sendAll = (upload: Upload, bytes: Buffer) =>
  Promise.all([4, 2, 1, 3].map((number) => send(upload, bytes, number)));
const complete = ({ id }: Upload, userId = ada) => completeUpload(server.services, { uploadId: id, userId });

test('parts arrive in any order, count as unfinished uploads, and belong to their user until the upload ends', async () => {
  const bytes = newBytes();
  const before = await findStoredBytes(db, ada);
  const upload = await open(bytes);
  expect(upload.blob).toBeNull();
  expect(await sumUnfinished(db, ada)).toEqual({ bytes: bytes.length, uploads: 1 });
  await send(upload, bytes, 3);
  await send(upload, bytes, 1);
  await expect(complete(upload)).rejects.toMatchObject({
    code: 'conflict',
    publicMessage: '2 of 4 parts are missing, the first is part 2',
  });
  await Promise.all([send(upload, bytes, 2), send(upload, bytes, 4)]);
  expect((await selectParts(db, upload.id)).map(({ number }) => number)).toEqual([1, 2, 3, 4]);

  const [blob, again] = await Promise.all([complete(upload), complete(upload)]);
  expect(blob).toEqual({ sha256: hashOf(bytes), sizeBytes: bytes.length });
  expect(again).toEqual(blob);
  expect(await buffer(await server.services.blobs.read(blob.sha256))).toEqual(bytes);
  expect(await sumUnfinished(db, ada)).toEqual({ bytes: 0, uploads: 0 });
  expect((await findStoredBytes(db, ada)) - before).toBe(BigInt(bytes.length));
  const unowned = () => listUnownedBlobs(db, new Date(Date.now() + 60_000), 1000);
  expect(await unowned()).not.toContain(blob.sha256);

  // The same user need not send the same bytes again. Other users do not learn that the bytes exist.
  expect((await open(bytes, { sha256: blob.sha256 })).blob).toEqual(blob);
  expect((await open(bytes, { sha256: blob.sha256, userId: bob })).blob).toBeNull();
  const longer = Buffer.concat([bytes, bytes]);
  expect((await open(longer, { sha256: blob.sha256 })).blob).toBeNull();

  await inTransaction(db, (tx) => releaseUpload(tx, { uploadId: upload.id, userId: ada }));
  await db.deleteFrom('uploads').execute();
  expect(await findStoredBytes(db, ada)).toBe(before);
  expect(await unowned()).toContain(blob.sha256);
});

test('a stored part is neither received again nor replaced; without a hash, its bytes are compared', async () => {
  const bytes = newBytes();
  const upload = await open(bytes);
  const first = await send(upload, bytes, 1);
  const unread = new Readable({ read: () => expect.unreachable('nothing of it is read') });
  const again = { uploadId: upload.id, userId: ada, number: 1, sha256: first.sha256, bytes: unread };
  expect(await receivePart(server.services, again)).toEqual(first);
  expect(await send(upload, bytes, 1, { sha256: null })).toEqual(first);
  const other = { code: 'conflict' };
  await expect(send(upload, bytes, 1, { content: randomBytes(PART) })).rejects.toMatchObject(other);
  await expect(send(upload, bytes, 1, { content: randomBytes(PART), sha256: null })).rejects.toMatchObject(
    other,
  );

  // Two concurrent clients.
  const [one, two] = await Promise.all([send(upload, bytes, 2), send(upload, bytes, 2)]);
  expect(one).toEqual(two);
  const both = await Promise.allSettled([
    send(upload, bytes, 3),
    send(upload, bytes, 3, { content: randomBytes(PART) }),
  ]);
  expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  await send(upload, bytes, 4);
  expect(await complete(upload)).toMatchObject({ sha256: hashOf(bytes) });
  expect(await send(upload, bytes, 4)).toMatchObject({ number: 4 });
});

test('rejects parts with an invalid number, size or hash, and uploads of other users', async () => {
  const bytes = newBytes();
  const upload = await open(bytes);
  for (const number of [0, 5, -1, 1.5, 2 ** 40]) {
    await expect(send(upload, bytes, number, { content: bytes.subarray(0, PART) })).rejects.toMatchObject({
      param: 'number',
      publicMessage: 'The parts of this upload are 1 to 4',
    });
  }
  for (const size of [PART - 1, PART + 1]) {
    await expect(send(upload, bytes, 1, { content: randomBytes(size) })).rejects.toMatchObject({
      code: 'invalid_request',
    });
  }
  await expect(send(upload, bytes, 1, { sha256: hashOf(randomBytes(1)) })).rejects.toMatchObject({
    param: 'sha256',
  });
  expect(await selectParts(db, upload.id)).toEqual([]);
  const notFound = { code: 'not_found', publicMessage: expect.stringContaining('No upload has this id') };
  await expect(send(upload, bytes, 1, { userId: bob })).rejects.toMatchObject(notFound);
  await expect(complete(upload, bob)).rejects.toMatchObject(notFound);
  const theirs = { uploadId: upload.id, userId: bob };
  await expect(endUpload(server.services, theirs)).rejects.toMatchObject(notFound);
  await endUpload(server.services, { ...theirs, userId: ada });
  await expect(send(upload, bytes, 1)).rejects.toMatchObject(notFound);
});

test('rejects and deletes a file that does not match its announced hash', async () => {
  const bytes = newBytes();
  const upload = await open(bytes, { sha256: '0'.repeat(64) });
  await sendAll(upload, bytes);
  await expect(complete(upload)).rejects.toMatchObject({ code: 'invalid_request', param: 'sha256' });
  expect(await server.services.blobs.stat(hashOf(bytes))).toBeNull();
  expect(await server.services.blobs.parts.list()).not.toContain(upload.storeKey);
  expect(await sumUnfinished(db, ada)).toMatchObject({ uploads: 0 });
});

test('only a part that the disk has lost must be sent again', async () => {
  const bytes = newBytes();
  const upload = await open(bytes);
  await sendAll(upload, bytes);
  // Overwrites part 2 with other bytes, as a second process that receives it could.
  const place = { number: 2, start: PART, sizeBytes: PART };
  await server.services.blobs.parts.write(upload.storeKey, place, Readable.from([randomBytes(PART)]));
  await expect(complete(upload)).rejects.toMatchObject({
    code: 'conflict',
    publicMessage: 'The server has lost part 2. Send it again',
  });
  await send(upload, bytes, 2);
  expect(await complete(upload)).toMatchObject({ sha256: hashOf(bytes) });
});

test('resumes after the server was killed at any point', async () => {
  for (let round = 0; round < effort({ usual: 2, soak: 40 }); round += 1) {
    const bytes = newBytes();
    const upload = await open(bytes, round % 2 ? { sha256: hashOf(bytes) } : {});
    // Killed after a part was written, but before it was recorded.
    const killed = { ...server.services.blobs };
    const { parts } = killed;
    killed.parts = {
      ...parts,
      write: async (...input) => {
        await parts.write(...input);
        throw new Error('killed');
      },
    };
    await send(upload, bytes, 1);
    await expect(send(upload, bytes, 2, { blobs: killed })).rejects.toThrow('killed');
    expect(await selectParts(db, upload.id)).toHaveLength(1);
    // Killed in the middle of a part.
    const cut = async function* () {
      yield randomBytes(PART / 2);
      throw new Error('cut');
    };
    const half = { uploadId: upload.id, userId: ada, number: 3, sha256: null, bytes: Readable.from(cut()) };
    await expect(receivePart(server.services, half)).rejects.toMatchObject({ code: 'invalid_request' });

    const restarted = await openLocalBlobStore(folder);
    await restarted.removeUnfinished();
    for (const number of [2, 3, 4]) await send(upload, bytes, number, { blobs: restarted });

    // Killed after the file was renamed and its name recorded, but before it is in its final place.
    const whole = { sizeBytes: bytes.length, partBytes: PART, announcedSha256: upload.announcedSha256 };
    const partSha256s = (await selectParts(db, upload.id)).map(({ sha256 }) => sha256);
    const stopped = restarted.parts.complete(upload.storeKey, { ...whole, partSha256s }, async () => {
      throw new Error('killed');
    });
    await expect(stopped).rejects.toThrow('killed');
    expect(await complete(upload)).toMatchObject({ sha256: hashOf(bytes) });
    expect(await buffer(await restarted.read(hashOf(bytes)))).toEqual(bytes);
  }
});

test('moves an upload that is recorded as complete to its final place', async () => {
  const bytes = newBytes();
  const upload = await open(bytes);
  await sendAll(upload, bytes);
  await complete(upload);
  // State of a server that was killed just before the last rename.
  const sha256 = hashOf(bytes);
  const place = path.join(folder, sha256.slice(0, 2), sha256.slice(2));
  await rename(place, path.join(folder, 'parts', `${upload.storeKey}.whole`));
  expect((await open(bytes, { sha256 })).blob).toBeNull();
  expect(await complete(upload)).toMatchObject({ sha256 });
  expect(await buffer(await server.services.blobs.read(sha256))).toEqual(bytes);
});

test('ends uploads without activity for a week, and deletes parts without an upload', async () => {
  const bytes = newBytes();
  const uploads = await Promise.all(Array.from({ length: 4 }, () => open(bytes)));
  const [old, touched, young, whole] = uploads as [Upload, Upload, Upload, Upload];
  for (const upload of [old, touched, young]) await send(upload, bytes, 1);
  await sendAll(whole, bytes);
  await complete(whole);
  await server.services.blobs.parts.write(
    'left',
    { number: 1, start: 0, sizeBytes: 1 },
    Readable.from([Buffer.from('x')]),
  );
  const eightDaysAgo = new Date(Date.now() - 8 * 24 * 60 * 60 * 1000);
  const ids = [old.id, touched.id, whole.id];
  await db.updateTable('uploads').set({ created_at: eightDaysAgo }).where('id', 'in', ids).execute();
  await db
    .updateTable('upload_parts')
    .set({ received_at: eightDaysAgo })
    .where('upload_id', 'in', [old.id, whole.id])
    .execute();
  const { signal } = new AbortController();
  await sweepUploadsJob.run(server.services, {}, signal);
  const left = await db
    .selectFrom('uploads')
    .select('id')
    .where(
      'id',
      'in',
      uploads.map(({ id }) => id),
    )
    .execute();
  expect(left.map(({ id }) => id).toSorted()).toEqual([touched.id, young.id, whole.id].toSorted());
  const stored = await readdir(path.join(folder, 'parts'));
  expect(stored).toEqual(expect.arrayContaining([touched.storeKey, young.storeKey]));
  expect(stored).not.toContain(old.storeKey);
  expect(stored).not.toContain('left');

  await db.updateTable('uploads').set({ completed_at: eightDaysAgo }).where('id', '=', whole.id).execute();
  await sweepUploadsJob.run(server.services, {}, signal);
  expect(await db.selectFrom('uploads').select('id').where('id', '=', whole.id).execute()).toEqual([]);
});

test('leaves nothing of an upload that is rejected while it is opened, and records a part only once', async () => {
  const before = await sumUnfinished(db, bob);
  const refused = openUpload(
    server.services,
    { userId: bob, sizeBytes: 1, sha256: null },
    async (_tx, insert) => {
      await insert();
      throw new Error('no room');
    },
  );
  await expect(refused).rejects.toThrow('no room');
  expect(await sumUnfinished(db, bob)).toEqual(before);
  const { id } = await open(newBytes(), { userId: bob });
  await insertPart(db, id, { number: 1, sha256: '0'.repeat(64), sizeBytes: 1 });
  await insertPart(db, id, { number: 1, sha256: '1'.repeat(64), sizeBytes: 1 });
  expect(await selectParts(db, id)).toMatchObject([{ sha256: '0'.repeat(64) }]);
});

test('a large file needs no more memory than its pieces', {
  timeout: effort({ usual: 60_000, soak: 900_000 }),
}, async () => {
  const piece = randomBytes(64 * 1024);
  const sizeBytes = effort({ usual: 64, soak: 5 * 1024 }) * 2 ** 20;
  const upload = await openUpload(server.services, { userId: ada, sizeBytes, sha256: null });
  const before = process.memoryUsage.rss();
  let peak = before;
  const pieces = function* (bytes: number) {
    for (let sent = 0; sent < bytes; sent += piece.length) yield piece;
    peak = Math.max(peak, process.memoryUsage.rss());
  };
  let next = 1;
  const work = async () => {
    for (let number = next++; number <= countParts(upload); number = next++) {
      const bytes = Readable.from(pieces(upload.partBytes), { objectMode: false });
      const part = { uploadId: upload.id, userId: ada, number, sha256: null, bytes };
      await receivePart(server.services, part);
    }
  };
  await Promise.all([work(), work(), work(), work()]);
  expect(await complete(upload)).toMatchObject({ sizeBytes });
  peak = Math.max(peak, process.memoryUsage.rss());
  expect((peak - before) / 2 ** 20).toBeLessThan(200);
  await endUpload(server.services, { uploadId: upload.id, userId: ada });
});

test.each([
  [1, 16, 1],
  [16_000, 16, 1000],
  [16_001, 32, 501],
  [50_000, 64, 782],
])('a file of %i MiB is sent in parts of %i MiB', (mib, partMib, count) => {
  const sizeBytes = mib * 2 ** 20;
  const partBytes = choosePartBytes(sizeBytes);
  expect([partBytes, countParts({ sizeBytes, partBytes })]).toEqual([partMib * 2 ** 20, count]);
});
