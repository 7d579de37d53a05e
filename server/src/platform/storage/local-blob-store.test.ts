import { mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../testing/temporary-folder.ts';
import { DamagedBlob } from './blob-store.ts';
import { openLocalBlobStore } from './local-blob-store.ts';
import { describeBlobStore } from './testing/blob-store-suite.ts';

const place = (dir: string, hash: string) => path.join(dir, hash.slice(0, 2), hash.slice(2));

describeBlobStore('the local', async () => {
  const dir = await temporaryFolder();
  return {
    store: await openLocalBlobStore(dir),
    list: async () => {
      const entries = await readdir(dir, { recursive: true, withFileTypes: true });
      return entries
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => path.join(parentPath, name));
    },
    change: async (sha256, to) => {
      const bytes = await readFile(place(dir, sha256));
      await writeFile(place(dir, sha256), to(bytes));
    },
    links: true,
  };
});

test('a file that the disk can no longer read is damaged', async () => {
  const dir = await temporaryFolder();
  const store = await openLocalBlobStore(dir);
  const { sha256 } = await store.write(Readable.from([Buffer.alloc(1000)]));
  await store.delete(sha256);
  await mkdir(place(dir, sha256));
  await expect(buffer(await store.read(sha256))).rejects.toThrow(DamagedBlob);
});

test('reserves space on the disk: checks before and during a write, and for the announced size', async () => {
  const full = {
    code: 'unavailable',
    publicMessage: 'The server has no disk space left for this file. Its operator can make room.',
  };
  const room = 2 ** 30;
  let free = room - 1;
  const other = await temporaryFolder();
  const tight = await openLocalBlobStore(other, async () => free);
  const piece = Buffer.alloc(16 * 1024 * 1024);
  let taken = 0;
  /** A source whose second chunk fills the disk. */
  const pieces = () =>
    Readable.from(
      (function* () {
        for (taken = 0; taken < 12; taken += 1) {
          if (taken === 1) free = room - 1;
          yield piece;
        }
      })(),
    );
  await expect(tight.write(pieces())).rejects.toMatchObject(full);
  expect(taken).toBe(0);

  free = room + 1000;
  await expect(tight.write(pieces(), { expectedBytes: 1001 })).rejects.toMatchObject(full);
  await expect(tight.write(pieces())).rejects.toMatchObject(full);
  expect(taken).toBeGreaterThan(1);
  expect(taken).toBeLessThan(12);
  expect(await readdir(path.join(other, 'unfinished'))).toEqual([]);
  free = room + 1000;
  await expect(tight.parts.open(1001)).rejects.toMatchObject(full);
  const key = await tight.parts.open(1000);
  free = room;
  await expect(
    tight.parts.write(key, { number: 1, start: 0, sizeBytes: 1000 }, pieces()),
  ).rejects.toMatchObject(full);
  expect(await tight.parts.list()).toEqual([]);

  free = room + 1000;
  expect(await tight.write(Readable.from([Buffer.alloc(1000)]), { expectedBytes: 1000 })).toMatchObject({
    sizeBytes: 1000,
  });
});

test('deletes abandoned uploads, and leaves uploads of other servers alone', async () => {
  const other = await temporaryFolder();
  const another = await openLocalBlobStore(other);
  const unfinished = path.join(other, 'unfinished');
  // A server in another container may have this server's process id, or an id that does not exist here.
  const inWork = [`${process.pid}-a`, `${2 ** 30}-b`, 'c'];
  for (const name of inWork) await writeFile(path.join(unfinished, name), 'being written');
  await writeFile(path.join(unfinished, 'left'), 'left');
  const longAgo = new Date(Date.now() - 24 * 60 * 60 * 1000);
  await utimes(path.join(unfinished, 'left'), longAgo, longAgo);
  await openLocalBlobStore(other);
  expect((await readdir(unfinished)).toSorted()).toEqual(inWork.toSorted());

  await utimes(path.join(unfinished, 'c'), longAgo, longAgo);
  await another.removeUnfinished();
  expect(await readdir(unfinished)).toHaveLength(2);
});

test('does not report files as damaged if the store is empty, because the disk may not be mounted', async () => {
  const dir = await temporaryFolder();
  const store = await openLocalBlobStore(dir);
  const lost = '0'.repeat(64);
  await expect(store.read(lost)).rejects.toThrow('The folder of stored files is empty: is its disk mounted?');
  await store.write(Readable.from(['bread']));
  await expect(store.read(lost)).rejects.toThrow(DamagedBlob);
  expect(await store.freeBytes()).toBeGreaterThan(0);
});
