import { createHash } from 'node:crypto';
import path from 'node:path';
import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { expect, test } from 'vitest';
import type { Context, WorkloadCaller } from '../../platform/context.ts';
import type { BlobStore } from '../../platform/storage/blob-store.ts';
import { openLocalBlobStore } from '../../platform/storage/local-blob-store.ts';
import { storeBlob } from '../../platform/storage/store-blob.ts';
import { temporaryFolder } from '../../testing/temporary-folder.ts';
import { testDatabase } from '../../testing/test-database.ts';
import { requestWorkload } from '../request-workload.ts';
import { testAttempt } from '../testing/test-attempt.ts';
import { testSpec } from '../testing/test-spec.ts';
import { selectArtefacts, upsertArtefact } from './file-queries.ts';
import { storeArtefact } from './store-artefact.ts';

const { db } = await testDatabase();
const now = new Date('2026-01-01T00:00:00Z');
const blobs = await openLocalBlobStore(path.join(await temporaryFolder(), 'blobs'));
const requestRun = () =>
  db.transaction().execute((tx) =>
    requestWorkload(tx, {
      userId: null,
      behaviour: 'run',
      kind: 'test',
      title: 'a run',
      spec: testSpec('a run'),
      placement: { accelerator: null, count: 0 },
      now,
    }),
  );
const workloadId = await requestRun();
const caller = await testAttempt(db, workloadId);
const ctx = { db, blobs, clock: { now: () => now }, caller } as unknown as Context<WorkloadCaller>;

/** Sends bytes; `stall` is called when the body pauses too long. */
function send(
  bytes: Readable,
  sha256: string,
  limits?: { bytes: number; stallMs: number },
  store: BlobStore = blobs,
) {
  let stall = () => {};
  let stallMs = 0;
  const raw = Object.assign(bytes, {
    setTimeout: (ms: number, then: () => void = () => {}) => {
      stall = then;
      stallMs = ms;
    },
  });
  const request = { raw, headers: { 'x-content-sha256': sha256 } } as unknown as FastifyRequest;
  const stored = storeArtefact(
    { ...ctx, blobs: store },
    { params: { workloadId, '*': 'adapter.gguf' }, query: undefined, body: undefined },
    { request },
    limits,
  );
  return { stored, stall: () => stall(), stallMs: () => stallMs };
}

const bytes = Buffer.from('adapter');
const sha256 = createHash('sha256').update(bytes).digest('hex');

test('stores bytes with the announced hash, and nothing that is too large', async () => {
  const tooLarge = send(Readable.from([bytes]), sha256, { bytes: bytes.length - 1, stallMs: 1 });
  await expect(tooLarge.stored).rejects.toMatchObject({ code: 'payload_too_large' });
  expect(await selectArtefacts(db, workloadId)).toEqual([]);
  await send(Readable.from([bytes]), sha256).stored;
  expect(await selectArtefacts(db, workloadId)).toMatchObject([{ path: 'adapter.gguf', sha256 }]);
});

test('deletes replaced bytes immediately, unless another owner has the same bytes', async () => {
  const put = async (text: string) => {
    const hash = createHash('sha256').update(text).digest('hex');
    await send(Readable.from([Buffer.from(text)]), hash).stored;
    return hash;
  };
  const isStored = async (hash: string) => (await blobs.stat(hash)) !== null;
  const first = await put('first checkpoint');
  const second = await put('second checkpoint');
  expect([await isStored(first), await isStored(second)]).toEqual([false, true]);
  expect(await selectArtefacts(db, workloadId)).toMatchObject([{ sha256: second }]);

  // Uploading the same bytes again deletes nothing.
  await put('second checkpoint');
  expect(await isStored(second)).toBe(true);
  // Not deleted if another upload of the same bytes is about to be registered.
  await storeBlob(ctx, Readable.from([Buffer.from('second checkpoint')]));
  const third = await put('third checkpoint');
  expect(await isStored(second)).toBe(true);
  // Not deleted if another run has an artefact with the same bytes.
  const other = await requestRun();
  const blob = { sha256: third, sizeBytes: 1 };
  await db.transaction().execute((tx) => upsertArtefact(tx, other, { path: 'checkpoint.tar', ...blob }));
  await put('fourth checkpoint');
  expect(await isStored(third)).toBe(true);
});

test('rejects uploads of an attempt that was replaced during the upload', async () => {
  const before = await selectArtefacts(db, workloadId);
  const body = new Readable({ read: () => undefined });
  const { stored } = send(body, sha256);
  body.push(bytes);
  const { tokenSha256 } = await testAttempt(db, workloadId);
  body.push(null);
  await expect(stored).rejects.toMatchObject({ code: 'gone' });
  expect(await selectArtefacts(db, workloadId)).toEqual(before);
  caller.tokenSha256 = tokenSha256;
});

test('ends the request when its body stalls', async () => {
  const body = new Readable({ read: () => undefined });
  body.push('ada');
  const { stored, stall } = send(body, sha256);
  stall();
  await expect(stored).rejects.toThrow();
  expect(body.destroyed).toBe(true);
});

test('allows a disk to take any time to store a complete body', async () => {
  const { promise: flushed, resolve: flush } = Promise.withResolvers<void>();
  const write: BlobStore['write'] = async (body, options) => {
    const blob = await blobs.write(body, options);
    await flushed;
    return blob;
  };
  const body = new Readable({ read: () => undefined });
  const { stored, stallMs } = send(body, sha256, { bytes: 100, stallMs: 5 }, { ...blobs, write });
  expect(stallMs()).toBe(5);
  body.push(bytes);
  body.push(null);
  await expect.poll(stallMs).toBe(0);
  flush();
  await stored;
});
