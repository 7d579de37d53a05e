import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../../testing/temporary-folder.ts';
import { type BlobStore, DamagedBlob, DamagedParts, HashMismatch } from '../blob-store.ts';

type Tested = {
  store: BlobStore;
  /** Lists the names of all objects, including unfinished ones. */
  list: () => Promise<string[]>;
  /** Changes stored bytes without the store's knowledge. */
  change: (sha256: string, to: (bytes: Buffer) => Buffer) => Promise<void>;
  /** True if the store adds a local file without copying it. */
  links: boolean;
};

/** Tests that every blob store must pass. */
export function describeBlobStore(title: string, openStore: () => Promise<Tested>): void {
  let store: BlobStore;
  let files: Tested['list'];
  let change: Tested['change'];
  let links: boolean;
  beforeAll(async () => {
    ({ store, list: files, change, links } = await openStore());
  });

  describe(`${title} blob store`, () => {
    test('names bytes by their hash, stores them once, and returns them in whole or in part', async () => {
      const bytes = randomBytes(3_000_000);
      const blob = await store.write(
        Readable.from([bytes.subarray(0, 1_000_000), bytes.subarray(1_000_000)]),
      );
      expect(blob).toEqual({ sha256: hashOf(bytes), sizeBytes: 3_000_000 });
      const before = await files();
      await store.write(Readable.from([bytes]));
      expect(await files()).toEqual(before);

      expect((await buffer(await store.read(blob.sha256))).equals(bytes)).toBe(true);
      const part = await buffer(await store.read(blob.sha256, { start: 10, end: 19 }));
      expect(part).toEqual(bytes.subarray(10, 20));
      await store.delete(blob.sha256);
      await expect(store.read(blob.sha256)).rejects.toThrow(DamagedBlob);
      await store.delete(blob.sha256);
    });

    test('returns the size, or null for missing bytes', async () => {
      const { sha256: name } = await store.write(Readable.from([randomBytes(1234)]));
      expect(await store.stat(name)).toEqual({ sizeBytes: 1234 });
      await store.delete(name);
      expect(await store.stat(name)).toBeNull();
    });

    test('provides a local file, or fails if the bytes are missing', async () => {
      const bytes = randomBytes(1000);
      const { sha256: name } = await store.write(Readable.from([bytes]));
      expect(await store.withLocalFile(name, (localPath) => readFile(localPath))).toEqual(bytes);
      const failing = store.withLocalFile(name, async () => {
        throw new Error('the program failed');
      });
      await expect(failing).rejects.toThrow('the program failed');
      await store.delete(name);
      await expect(store.withLocalFile(name, async () => 'read')).rejects.toThrow(DamagedBlob);
    });

    test('counts the bytes of text', async () => {
      const [text, sizeBytes] = ['Brötchen', 9];
      const { sha256 } = await store.write(Readable.from([text]));
      expect(await store.stat(sha256)).toEqual({ sizeBytes });
      expect(await store.write(Readable.from([text]))).toEqual({
        sha256: hashOf(Buffer.from(text)),
        sizeBytes,
      });
      await store.delete(sha256);
    });

    test('stores an empty file', async () => {
      expect(await store.write(Readable.from([]))).toEqual({ sha256: hashOf(Buffer.alloc(0)), sizeBytes: 0 });
    });

    test('leaves nothing of a stream that breaks at any point', async () => {
      const before = await files();
      await fc.assert(
        fc.asyncProperty(fc.nat(200_000), fc.integer({ min: 1, max: 70_000 }), async (cutAt, piece) => {
          const broken = Readable.from(
            (function* () {
              for (let sent = 0; sent < cutAt; sent += piece)
                yield randomBytes(Math.min(piece, cutAt - sent));
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

    test('accepts a file of exactly the limit, and rejects one more byte without a trace', async () => {
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

    test('registers bytes before they become visible, and keeps them invisible if that fails', async () => {
      const bytes = randomBytes(1000);
      const failing = store.write(Readable.from([bytes]), {
        beforeVisible: async (blob) => {
          await expect(store.read(blob.sha256)).rejects.toThrow(DamagedBlob);
          throw new Error('no database');
        },
      });
      await expect(failing).rejects.toThrow('no database');
      await expect(store.read(hashOf(bytes))).rejects.toThrow(DamagedBlob);
    });
  });

  test.each([1000, 20_000_000])('accepts exactly the %i announced bytes', async (size) => {
    const bytes = randomBytes(size);
    const half = Math.floor(size / 2);
    const pieces = [bytes.subarray(0, half), bytes.subarray(half)];
    const expectedSha256 = hashOf(bytes);
    const before = await files();
    const other = [pieces[0] ?? '', randomBytes(size - half)];
    const error = await store
      .write(Readable.from(other), { expectedSha256 })
      .catch((failure: unknown) => failure);
    expect(error).toBeInstanceOf(HashMismatch);
    expect(error).toMatchObject({ sha256: hashOf(Buffer.concat(other.map((one) => Buffer.from(one)))) });
    expect(await files()).toEqual(before);
    for (const options of [{ expectedSha256 }, {}]) {
      const blob = await store.write(Readable.from(pieces), options);
      expect(blob).toEqual({ sha256: expectedSha256, sizeBytes: size });
      expect((await buffer(await store.read(expectedSha256))).equals(bytes)).toBe(true);
      await store.delete(expectedSha256);
      expect(await files()).toEqual(before);
    }
  });

  test('adds a local file, and copies it if no hard link is possible', async () => {
    const folder = await temporaryFolder();
    for (const other of [folder, '/dev/shm'].filter((one) => existsSync(one))) {
      const bytes = randomBytes(1_500_000);
      const file = path.join(other, hashOf(bytes));
      await writeFile(file, bytes);
      const blob = await store.adopt(file, async ({ sha256 }) => expect(await store.stat(sha256)).toBeNull());
      expect(blob).toMatchObject({ sha256: hashOf(bytes), sizeBytes: bytes.length });
      if (other === folder) expect(blob.isLinked).toBe(links);
      expect((await buffer(await store.read(blob.sha256))).equals(bytes)).toBe(true);
      // Both paths are links to the same file.
      const before = await files();
      await store.adopt(file, async () => undefined);
      expect(await files()).toEqual(before);
      await store.delete(blob.sha256);
      expect(await readFile(file)).toEqual(bytes);
      await rm(file);
    }
    await expect(store.adopt(path.join(folder, 'none'), async () => undefined)).rejects.toThrow('ENOENT');
  });

  describe('parts', () => {
    const PART = 5 * 1024 * 1024;
    const bytes = randomBytes(2 * PART + 1_000_000);
    const parts = [bytes.subarray(0, PART), bytes.subarray(PART, 2 * PART), bytes.subarray(2 * PART)];
    const whole = {
      sizeBytes: bytes.length,
      partBytes: PART,
      partSha256s: parts.map(hashOf),
      announcedSha256: null,
    };
    const placeOf = (index: number) => ({
      ...{ number: index + 1, start: index * PART },
      sizeBytes: parts[index]?.length ?? 0,
    });
    const write = (key: string, index: number, from: Iterable<Buffer> = [parts[index] ?? Buffer.alloc(0)]) =>
      store.parts.write(key, placeOf(index), Readable.from(from));
    const visible = async () => undefined;

    async function openWithAll(): Promise<string> {
      const key = await store.parts.open(bytes.length);
      const written = await Promise.all([2, 0, 1].map((index) => write(key, index)));
      expect(written.map(({ sha256 }) => sha256)).toEqual([2, 0, 1].map((at) => whole.partSha256s[at]));
      return key;
    }

    test.each([null, hashOf(bytes)])(
      'sent concurrently are combined into one blob without a copy, with %s announced',
      async (announcedSha256) => {
        const before = (await files()).length;
        const key = await openWithAll();
        expect(await store.parts.list()).toEqual([key]);
        const blob = await store.parts.complete(key, { ...whole, announcedSha256 }, async ({ sha256 }) => {
          expect(await store.stat(sha256)).toBeNull();
        });
        expect(blob).toEqual({ sha256: hashOf(bytes), sizeBytes: bytes.length });
        expect((await buffer(await store.read(blob.sha256))).equals(bytes)).toBe(true);
        expect(await files()).toHaveLength(before + 1);
        expect(await store.parts.list()).toEqual([]);
        await store.delete(blob.sha256);
      },
    );

    test('of another size are rejected, and a truncated part is reported', async () => {
      const key = await store.parts.open(bytes.length);
      const code = 'invalid_request';
      await expect(write(key, 2, [Buffer.alloc(1_000_001)])).rejects.toMatchObject({ code });
      await expect(write(key, 2, [Buffer.alloc(999_999)])).rejects.toMatchObject({ code });
      const broken = (function* () {
        yield randomBytes(1000);
        throw new Error('connection lost');
      })();
      await expect(write(key, 2, broken)).rejects.toMatchObject({
        publicMessage: 'The upload stopped before the file was complete',
      });
      await store.parts.abandon(key);
      await store.parts.abandon(key);
      expect(await store.parts.list()).toEqual([]);
    });

    test.each([null, hashOf(bytes)])(
      'that were changed or lost are named, and only those must be sent again, with %s announced',
      async (announcedSha256) => {
        const complete = (key: string) => store.parts.complete(key, { ...whole, announcedSha256 }, visible);
        const key = await openWithAll();
        await write(key, 1, [randomBytes(PART)]);
        await expect(complete(key)).rejects.toMatchObject({ numbers: [2] });
        await write(key, 1);
        const { sha256 } = await complete(key);
        await expect(complete(key)).rejects.toThrow(DamagedParts);
        await store.delete(sha256);
      },
    );

    test('remain if the blob cannot be registered; the blob then stays invisible', async () => {
      const key = await openWithAll();
      const failing = store.parts.complete(key, whole, async () => {
        throw new Error('no database');
      });
      await expect(failing).rejects.toThrow('no database');
      expect(await store.stat(hashOf(bytes))).toBeNull();
      const { sha256 } = await store.parts.complete(key, whole, visible);
      expect((await buffer(await store.read(sha256))).equals(bytes)).toBe(true);
      await store.delete(sha256);
    });

    test('that still arrive do not change the blob', async () => {
      const key = await openWithAll();
      const late = Readable.from(
        (async function* () {
          yield Buffer.alloc(PART - 300_000);
          const { sha256 } = await store.parts
            .complete(key, { ...whole, announcedSha256: hashOf(bytes) }, visible)
            .catch(async () => {
              // The late sender has already overwritten a part with zeros. Send that part again; the late
              // sender then continues.
              await write(key, 0);
              return store.parts.complete(key, whole, visible);
            });
          expect(sha256).toBe(hashOf(bytes));
          yield Buffer.alloc(300_000);
        })(),
      );
      await store.parts.write(key, placeOf(0), late).catch(() => undefined);
      expect((await buffer(await store.read(hashOf(bytes)))).equals(bytes)).toBe(true);
      await store.delete(hashOf(bytes));
      await store.parts.abandon(key);
    });
  });

  describe('damage', () => {
    /** Stores a file of three pieces, and flips one bit at this offset. */
    async function storeAndFlip(at: number): Promise<string> {
      const { sha256 } = await store.write(Readable.from([randomBytes(2_500_000)]));
      await change(sha256, (bytes) => {
        bytes[at] = (bytes[at] ?? 0) ^ 1;
        return bytes;
      });
      return sha256;
    }

    test.each([0, 1_500_000, 2_499_999])('at byte %i aborts a full read before its end', async (at) => {
      const name = await storeAndFlip(at);
      for (const range of [undefined, { start: 0, end: 2_499_999 }]) {
        let sent = 0;
        const reading = (async () => {
          for await (const chunk of await store.read(name, range)) sent += (chunk as Buffer).length;
        })();
        await expect(reading).rejects.toThrow(DamagedBlob);
        expect(sent).toBeLessThan(2_500_000);
      }
    });

    test('a truncated or missing file is damaged too', async () => {
      const blob = await store.write(Readable.from([randomBytes(2_500_000)]));
      await change(blob.sha256, (bytes) => bytes.subarray(0, 2_000_000));
      await expect(buffer(await store.read(blob.sha256))).rejects.toThrow(DamagedBlob);
    });
  });
}

function hashOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
