import { createHash, randomBytes } from 'node:crypto';
import { mkdir, open, readdir, truncate, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../testing/temporary-folder.ts';
import { DamagedBlob } from './blob-store.ts';
import { openLocalBlobStore } from './local-blob-store.ts';

const dir = await temporaryFolder();
const store = await openLocalBlobStore(dir);

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

async function files(): Promise<string[]> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
}

describe('the local blob store', () => {
  test('names bytes by their hash, once, and gives them back whole or in parts', async () => {
    const bytes = randomBytes(3_000_000);
    const blob = await store.write(Readable.from([bytes.subarray(0, 1_000_000), bytes.subarray(1_000_000)]));
    expect(blob).toEqual({ sha256: sha256(bytes), sizeBytes: 3_000_000 });
    const before = await files();
    await store.write(Readable.from([bytes]));
    expect(await files()).toEqual(before);

    expect(await buffer(await store.read(blob.sha256))).toEqual(bytes);
    expect(await buffer(await store.read(blob.sha256, { start: 10, end: 19 }))).toEqual(
      bytes.subarray(10, 20),
    );
    expect(await store.localPath(blob.sha256)).toBe(
      path.join(dir, blob.sha256.slice(0, 2), blob.sha256.slice(2)),
    );
    await store.delete(blob.sha256);
    await expect(store.read(blob.sha256)).rejects.toThrow(DamagedBlob);
    await store.delete(blob.sha256);
  });

  test('stores an empty file', async () => {
    expect(await store.write(Readable.from([]))).toEqual({ sha256: sha256(Buffer.alloc(0)), sizeBytes: 0 });
  });

  test('leaves nothing of a stream that breaks at any byte', async () => {
    const before = await files();
    await fc.assert(
      fc.asyncProperty(fc.nat(200_000), fc.integer({ min: 1, max: 70_000 }), async (cutAt, piece) => {
        const broken = Readable.from(
          (function* () {
            for (let sent = 0; sent < cutAt; sent += piece) yield randomBytes(Math.min(piece, cutAt - sent));
            throw new Error('connection lost');
          })(),
        );
        await expect(store.write(broken)).rejects.toMatchObject({
          code: 'invalid_request',
          publicMessage: 'The upload stopped before the file was complete',
        });
        expect(await files()).toEqual(before);
      }),
      { numRuns: 25 },
    );
  });

  test('takes a file of just the limit, and refuses one byte more without a trace', async () => {
    const limits = { sizeBytesMax: 1_000_000, tooLargeMessage: 'Too large for the test' };
    expect(await store.write(Readable.from([randomBytes(1_000_000)]), limits)).toMatchObject({
      sizeBytes: 1_000_000,
    });
    const before = await files();
    await expect(
      store.write(Readable.from([randomBytes(1_000_000), randomBytes(1)]), limits),
    ).rejects.toMatchObject({
      code: 'payload_too_large',
      publicMessage: 'Too large for the test',
    });
    expect(await files()).toEqual(before);
  });

  test('keeps room on the disk: looks before, while it writes, and at what is announced', async () => {
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
    /** The disk fills up while the second piece is on its way. */
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
    expect(await tight.write(Readable.from([Buffer.alloc(1000)]), { expectedBytes: 1000 })).toMatchObject({
      sizeBytes: 1000,
    });
  });

  test('removes what nobody has written to for long, and leaves uploads of other servers alone', async () => {
    const other = await temporaryFolder();
    const another = await openLocalBlobStore(other);
    const unfinished = path.join(other, 'unfinished');
    // A server in another container may have the number that this one has, or one that is not here.
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

  test('bytes are registered before they can be found, and not found where that fails', async () => {
    const bytes = randomBytes(1000);
    const failing = store.write(Readable.from([bytes]), {
      beforeVisible: async (blob) => {
        await expect(store.read(blob.sha256)).rejects.toThrow(DamagedBlob);
        throw new Error('no database');
      },
    });
    await expect(failing).rejects.toThrow('no database');
    await expect(store.read(sha256(bytes))).rejects.toThrow(DamagedBlob);
  });
});

describe('damage', () => {
  /** A stored file of three pieces, with one bit other than it was at this place. */
  async function storeAndFlip(place: number): Promise<string> {
    const blob = await store.write(Readable.from([randomBytes(2_500_000)]));
    const file = await open(await store.localPath(blob.sha256), 'r+');
    const byte = Buffer.alloc(1);
    await file.read(byte, 0, 1, place);
    await file.write(Buffer.from([(byte[0] ?? 0) ^ 1]), 0, 1, place);
    await file.close();
    return blob.sha256;
  }

  test.each([0, 1_500_000, 2_499_999])('at byte %i breaks a whole read off before its end', async (place) => {
    const name = await storeAndFlip(place);
    for (const range of [undefined, { start: 0, end: 2_499_999 }]) {
      let sent = 0;
      const reading = (async () => {
        for await (const chunk of await store.read(name, range)) sent += (chunk as Buffer).length;
      })();
      await expect(reading).rejects.toThrow(DamagedBlob);
      expect(sent).toBeLessThan(2_500_000);
    }
  });

  test('a file that the disk cannot give any more is damaged', async () => {
    const { sha256: name } = await store.write(Readable.from([randomBytes(1000)]));
    const place = await store.localPath(name);
    await store.delete(name);
    await mkdir(place);
    await expect(buffer(await store.read(name))).rejects.toThrow(DamagedBlob);
  });

  test('a file that is cut, or gone, is damaged too', async () => {
    const blob = await store.write(Readable.from([randomBytes(2_500_000)]));
    await truncate(await store.localPath(blob.sha256), 2_000_000);
    await expect(buffer(await store.read(blob.sha256))).rejects.toThrow(DamagedBlob);
  });
});
