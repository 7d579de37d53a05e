import { rm } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { Context, WorkloadCaller } from '../../platform/context.ts';
import { openLocalBlobStore } from '../../platform/storage/local-blob-store.ts';
import { storeBlob } from '../../platform/storage/store-blob.ts';
import { temporaryFolder } from '../../testing/temporary-folder.ts';
import { updateWorkload } from '../queries.ts';
import { testAttempt } from '../testing/test-attempt.ts';
import { testEngine } from '../testing/test-engine.ts';
import { findCheckpoint, upsertArtefact } from './file-queries.ts';
import { readInput } from './read-input.ts';

const { db, clock, request, see } = await testEngine();
const folder = path.join(await temporaryFolder(), 'blobs');
const blobs = await openLocalBlobStore(folder);
const services = { db, blobs, clock, log: pino({ level: 'silent' }) };

/** A run that has worked for 30 s and uploaded its checkpoint of 20 s. */
async function runWithCheckpoint() {
  const id = await request();
  const checkpoint = await storeBlob(services, Readable.from([`half of ${id}`]));
  const other = await storeBlob(services, Readable.from([`rows of ${id}`]));
  await db.transaction().execute(async (tx) => {
    await upsertArtefact(tx, id, { path: 'checkpoint.tar', ...checkpoint });
    await updateWorkload(tx, id, { activeSeconds: 30, savedSeconds: 20, checkpointSeconds: 20 });
  });
  await db
    .insertInto('workload_inputs')
    .values({ workload_id: id, sha256: other.sha256, size_bytes: BigInt(other.sizeBytes) })
    .execute();
  const ctx = { ...services, caller: await testAttempt(db, id) } as unknown as Context<WorkloadCaller>;
  const read = (sha256: string) => {
    const input = { params: { workloadId: id, sha256 }, query: undefined, body: undefined };
    return readInput(ctx, input, { method: 'GET', headers: {} });
  };
  return { id, read, checkpoint: checkpoint.sha256, other: other.sha256 };
}

const lose = (sha256: string) => rm(path.join(folder, sha256.slice(0, 2), sha256.slice(2)));

test('a run whose stored checkpoint is lost has saved nothing, and its next attempt gets none', async () => {
  const { id, read, checkpoint } = await runWithCheckpoint();
  await lose(checkpoint);
  await expect(read(checkpoint)).rejects.toMatchObject({ code: 'conflict' });
  expect(await see(id)).toMatchObject({ activeSeconds: 0, savedSeconds: 0, checkpointSeconds: 0 });
  expect(await findCheckpoint(db, id)).toBeNull();
  await expect(read(checkpoint)).rejects.toMatchObject({ code: 'not_found' });
});

test("losing any other input does not affect the run's saved progress", async () => {
  const { id, read, other } = await runWithCheckpoint();
  await lose(other);
  await expect(read(other)).rejects.toMatchObject({ code: 'conflict' });
  expect(await see(id)).toMatchObject({ activeSeconds: 30, savedSeconds: 20, checkpointSeconds: 20 });
  expect(await findCheckpoint(db, id)).not.toBeNull();
});

test('redirects clients that follow links to the object store, unless the bytes may be damaged', async () => {
  const { id, other, checkpoint } = await runWithCheckpoint();
  const linking = { ...blobs, presign: async (sha256: string) => `https://store.example/${sha256}` };
  const caller = await testAttempt(db, id);
  const ctx = { ...services, blobs: linking, caller } as unknown as Context<WorkloadCaller>;
  const ask = async (sha256: string, headers: Record<string, string>) => {
    const input = { params: { workloadId: id, sha256 }, query: undefined, body: undefined };
    const answer = await readInput(ctx, input, { method: 'GET', headers });
    return [answer.status, answer.headers.location];
  };
  const follows = { 'x-bakehouse-links': '1' };
  expect(await ask(other, follows)).toEqual([307, `https://store.example/${other}`]);
  expect(await ask(other, {})).toEqual([undefined, undefined]);
  await lose(checkpoint);
  await expect(ask(checkpoint, follows)).rejects.toMatchObject({ code: 'conflict' });
  await db.updateTable('blobs').set({ damaged_at: clock.now() }).where('sha256', '=', other).execute();
  await expect(ask(other, follows)).rejects.toMatchObject({ code: 'conflict' });
});
