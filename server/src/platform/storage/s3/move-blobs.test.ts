import { randomBytes } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { CreateBucketCommand } from '@aws-sdk/client-s3';
import { expect, test, vi } from 'vitest';
import { readConfig } from '../../../config.ts';
import { onFileEnd } from '../../../testing/on-file-end.ts';
import { startS3Server } from '../../../testing/servers/s3-server.ts';
import { temporaryFolder } from '../../../testing/temporary-folder.ts';
import { testDatabase } from '../../../testing/test-database.ts';
import { findUnmoved, type Moved, moveBlobs } from '../move-blobs.ts';
import { blobsDir, isBucketInUse, openBlobStore, openS3 } from '../open-blob-store.ts';
import { collectBlob, storeBlob } from '../store-blob.ts';
import { openBucket } from './bucket.ts';

const s3Server = await startS3Server();
onFileEnd(s3Server.close);
for (const [name, value] of Object.entries(s3Server.owner)) vi.stubEnv(name, value);
onFileEnd(async () => void vi.unstubAllEnvs());
const { db } = await testDatabase();
const dataDir = await temporaryFolder();
const before = readConfig({ BAKEHOUSE_DATA_DIR: dataDir, BAKEHOUSE_CACHE_DIR: path.join(dataDir, 'cache') });
const after = readConfig({
  ...{ BAKEHOUSE_DATA_DIR: dataDir, BAKEHOUSE_CACHE_DIR: path.join(dataDir, 'cache') },
  ...{ BAKEHOUSE_S3_BUCKET: 'loaves', BAKEHOUSE_S3_ENDPOINT: s3Server.endpoint },
});
if (!after.s3) throw new Error('There is no bucket in the settings.');
const { s3 } = after;
await openBucket(s3).client.send(new CreateBucketCommand({ Bucket: 'loaves' }));

test('files move to a bucket while the server runs, even if the move is killed at any point', async () => {
  const folder = blobsDir(before);
  const old = await openBlobStore(before);
  const all = [randomBytes(1000), randomBytes(20_000_000), randomBytes(3000), randomBytes(4000)];
  const blobs = [];
  for (const bytes of all) blobs.push(await storeBlob({ db, blobs: old }, Readable.from([bytes])));
  const [first, large, rotten, unwanted] = blobs.map(({ sha256 }) => sha256) as [
    string,
    string,
    string,
    string,
  ];
  const file = (sha256: string) => path.join(folder, sha256.slice(0, 2), sha256.slice(2));
  await writeFile(file(rotten), randomBytes(3000));

  // From now on the server stores files in the bucket, and can read both old and new ones.
  expect(await isBucketInUse(after)).toBe(false);
  const serving = await openBlobStore(after);
  expect(await isBucketInUse(after)).toBe(true);
  const fresh = await storeBlob({ db, blobs: serving }, Readable.from(['fresh']));
  const read = async (sha256: string) => buffer(await serving.read(sha256));
  expect((await read(large)).equals(all[1] ?? Buffer.alloc(0))).toBe(true);
  expect(await serving.stat(first)).toEqual({ sizeBytes: 1000 });
  expect(
    (await serving.withLocalFile(large, (lent) => readFile(lent))).equals(all[1] ?? Buffer.alloc(0)),
  ).toBe(true);
  await collectBlob(
    { db, blobs: serving },
    { sha256: unwanted, untouchedSince: new Date(Date.now() + 60_000) },
  );
  expect(await serving.stat(unwanted)).toBeNull();

  const [to, from] = [await openS3(after, s3), old];
  const move = (told: (moved: Moved) => void = () => undefined) => moveBlobs({ db, from, to }, folder, told);
  expect((await findUnmoved({ db, to })).toSorted()).toEqual([first, large, rotten].toSorted());
  const killed = move(() => {
    throw new Error('killed');
  });
  await expect(killed).rejects.toThrow('killed');
  expect((await read(first)).equals(all[0] ?? Buffer.alloc(0))).toBe(true);

  expect(await move()).toMatchObject({ files: 2, damaged: [rotten] });
  expect(await findUnmoved({ db, to })).toEqual([rotten]);
  expect(await move()).toMatchObject({ files: 2, bytes: 0 });
  await rm(folder, { recursive: true });
  const moved = await openBlobStore(after);
  for (const [sha256, size] of [
    [first, 1000],
    [large, 20_000_000],
    [fresh.sha256, 5],
  ] as const)
    expect(await buffer(await moved.read(sha256))).toHaveLength(size);

  // The folder without blobs is not mistaken for the store.
  await expect(openBlobStore(before)).rejects.toThrow(
    'The files of this installation are in s3://loaves/, but the settings name no bucket',
  );
});

test('a blob that is collected while it is moved does not reappear', async () => {
  const folder = await temporaryFolder();
  const from = await openBlobStore({ ...before, dataDir: folder });
  const to = await openS3(after, s3);
  // A blob that the database does not reference.
  const { sha256 } = await from.write(Readable.from([randomBytes(1000)]));
  await moveBlobs({ db, from, to }, path.join(folder, 'blobs'), () => undefined);
  expect(await to.stat(sha256)).toBeNull();
});
