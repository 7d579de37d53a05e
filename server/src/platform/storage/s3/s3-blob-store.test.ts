import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import {
  AbortMultipartUploadCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  PutObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { onFileEnd } from '../../../testing/on-file-end.ts';
import { faultyProxy } from '../../../testing/servers/faulty-proxy.ts';
import { type S3Credentials, startS3Server } from '../../../testing/servers/s3-server.ts';
import { temporaryFolder } from '../../../testing/temporary-folder.ts';
import type { BlobStore } from '../blob-store.ts';
import { describeBlobStore } from '../testing/blob-store-suite.ts';
import { copyObject } from './assemble.ts';
import { type Bucket, openBucket } from './bucket.ts';
import { listObjects, listUnfinished } from './read-object.ts';
import { requireBucket } from './require-bucket.ts';
import { nameOfBlob, openS3BlobStore } from './s3-blob-store.ts';

const SILENT_MS = 500;

const s3 = await startS3Server();
onFileEnd(s3.close);
const proxy = await faultyProxy(s3.endpoint);
onFileEnd(proxy.close);
const signIn = (credentials: S3Credentials) => {
  for (const [name, value] of Object.entries(credentials)) vi.stubEnv(name, value);
};
signIn(s3.owner);
onFileEnd(async () => void vi.unstubAllEnvs());
const settings = {
  ...{ bucket: 'loaves', prefix: 'of/a house/', region: 'eu-west-1' },
  ...{ endpoint: proxy.endpoint, pathStyle: true },
};
const bucket = openBucket(settings);
await bucket.client.send(
  new CreateBucketCommand({
    Bucket: 'loaves',
    CreateBucketConfiguration: { LocationConstraint: 'eu-west-1' },
  }),
);

const open = async (options: { bytesMax?: number; links?: boolean; from?: Bucket } = {}) => {
  const dir = await temporaryFolder();
  const copies = { dir, bytesMax: options.bytesMax ?? 10_000_000 };
  return {
    dir,
    store: await openS3BlobStore(options.from ?? bucket, { copies, links: options.links ?? false }),
  };
};
const hashOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

async function list(): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of listObjects(bucket, '')) names.push(name);
  for await (const { upload } of listUnfinished(bucket)) names.push(upload.UploadId);
  return names;
}

describeBlobStore('an S3', async () => {
  const { store } = await open();
  // An empty bucket may be the wrong one, so put a blob into it.
  await store.write(Readable.from(['the first loaf']));
  return {
    ...{ store, list, links: false },
    change: async (sha256, to) => {
      const object = bucket.at(nameOfBlob(sha256));
      const { Body } = await bucket.ask(new GetObjectCommand(object));
      const bytes = await buffer(Body as Readable);
      await bucket.ask(new PutObjectCommand({ ...object, Body: to(bytes) }));
    },
  };
});

describe('the S3 blob store', () => {
  let store: BlobStore;
  let dir: string;
  const bytes = randomBytes(3_000_000);
  let sha256: string;
  beforeEach(async () => {
    ({ store, dir } = await open());
    ({ sha256 } = await store.write(Readable.from([bytes])));
    proxy.seen = [];
  });
  afterEach(() => {
    proxy.fault = () => null;
  });

  test.each([undefined, { start: 1000, end: 2_900_000 }])(
    'resumes after a disconnect, reading %o',
    async (range) => {
      let breaks = 0;
      proxy.fault = () => (++breaks <= 3 ? { resetAfter: 700_000 } : null);
      const expected = range ? bytes.subarray(range.start, range.end + 1) : bytes;
      expect((await buffer(await store.read(sha256, range))).equals(expected)).toBe(true);
      expect(proxy.seen.length).toBe(4);
      for (const again of proxy.seen.slice(1)) expect(again).toMatch(/bytes=\d{6,}-\d+ "[0-9a-f]{32}"$/);
    },
  );

  test('does not resume with changed bytes', async () => {
    proxy.fault = ({ headers }) =>
      headers['if-match'] ? { status: 412, code: 'PreconditionFailed' } : { resetAfter: 700_000 };
    await expect(buffer(await store.read(sha256))).rejects.toMatchObject({ code: 'unavailable' });
  });

  test('abandons an object whose connection breaks repeatedly', async () => {
    proxy.fault = () => ({ resetAfter: 0 });
    await expect(buffer(await store.read(sha256))).rejects.toMatchObject({ code: 'unavailable' });
  });

  test.each([
    ['fails', { status: 500, code: 'InternalError' }],
    ['is busy', { status: 503, code: 'SlowDown' }],
    ['refuses', { status: 403, code: 'AccessDenied' }],
    ['has another clock', { status: 403, code: 'RequestTimeTooSkewed' }],
    ['has lost its bucket', { status: 404, code: 'NoSuchBucket' }],
    ['does not respond', 'silence' as const],
  ])('reports no damage while S3 %s, and works afterwards', async (_what, fault) => {
    const before = await list();
    proxy.fault = () => fault;
    const unavailable = { code: 'unavailable', publicMessage: expect.stringContaining('Nothing is lost') };
    const { store: impatient } = await open({ from: openBucket(settings, SILENT_MS) });
    const asked = [
      impatient.read(sha256),
      impatient.withLocalFile(sha256, async () => 'read'),
      impatient.write(Readable.from([randomBytes(100)])),
      impatient.write(Readable.from([randomBytes(9_000_000)])),
      impatient.parts.write('a', { number: 1, start: 0, sizeBytes: 10 }, Readable.from([randomBytes(10)])),
    ];
    for (const one of await Promise.allSettled(asked))
      expect(one).toMatchObject({ status: 'rejected', reason: unavailable });
    proxy.fault = () => null;
    expect((await buffer(await store.read(sha256))).equals(bytes)).toBe(true);
    expect(await list()).toEqual(before);
  });

  test('an upload succeeds although S3 drops one request', async () => {
    const failed = new Set<string>();
    proxy.fault = ({ method = '', url = '' }) => {
      const call = `${method} ${url}`;
      if (failed.has(call)) return null;
      failed.add(call);
      return { status: 503, code: 'SlowDown' };
    };
    const large = randomBytes(20_000_000);
    const blob = await store.write(Readable.from([large]));
    expect(failed.size).toBeGreaterThan(5);
    expect((await buffer(await store.read(blob.sha256))).equals(large)).toBe(true);
    await store.delete(blob.sha256);
  });

  test('downloads one copy for concurrent users, and retains the most recent copies', async () => {
    ({ store, dir } = await open({ bytesMax: 2_500_000 }));
    const others = [randomBytes(1_000_000), randomBytes(1_000_000), randomBytes(1_000_000)];
    for (const other of others) await store.write(Readable.from([other]));
    const [first = '', ...later] = others.map(hashOf);
    proxy.seen = [];
    await Promise.all(Array.from({ length: 5 }, () => store.withLocalFile(first, (file) => readFile(file))));
    expect(proxy.seen.filter((call) => call.startsWith('GET'))).toHaveLength(1);
    await store.withLocalFile(first, async (file) => {
      for (const name of later) await store.withLocalFile(name, async () => undefined);
      // The copy is evicted, but stays available while it is in use.
      expect(await readdir(dir)).not.toContain(first);
      expect((await readFile(file)).equals(others[0] ?? Buffer.alloc(0))).toBe(true);
    });
    expect((await readdir(dir)).toSorted()).toEqual([...later, 'lent'].toSorted());
    expect(await readdir(path.join(dir, 'lent'))).toEqual([]);
  });

  test('links open without a key, with the name of the file, and are equal if they expire at the same time', async () => {
    const answer = {
      ...{ contentType: 'image/webp', contentDisposition: `attachment; filename="a b.webp"` },
      expiresAt: new Date(Date.now() + 75 * 60_000),
    };
    expect(await store.presign(sha256, answer)).toBeNull();
    ({ store } = await open({ links: true }));
    const link = (await store.presign(sha256, answer)) ?? '';
    expect(await store.presign(sha256, answer)).toBe(link);
    await s3.verify(false);
    const opened = await fetch(link);
    await s3.verify(true);
    expect(opened.headers.get('content-type')).toBe(answer.contentType);
    expect(opened.headers.get('content-disposition')).toBe(answer.contentDisposition);
    expect(Buffer.from(await opened.arrayBuffer()).equals(bytes)).toBe(true);
  });

  test('deletes its own uploads that were abandoned for hours, and no newer or foreign ones', async () => {
    const others = await bucket.ask(new CreateMultipartUploadCommand(bucket.at('reports/of-others')));
    onTestFinished(async () => {
      const { UploadId } = others;
      await bucket.ask(new AbortMultipartUploadCommand({ ...bucket.at('reports/of-others'), UploadId }));
    });
    const before = await list();
    const begun = nameOfBlob('ab'.repeat(32));
    const { UploadId } = await bucket.ask(new CreateMultipartUploadCommand(bucket.at(begun)));
    // This test's server reports all uploads as begun long ago.
    const part = { ...bucket.at(begun), UploadId, PartNumber: 1, Body: 'a' };
    await bucket.ask(new UploadPartCommand(part));
    await bucket.ask(new PutObjectCommand({ ...bucket.at('unfinished/left'), Body: 'left' }));
    const left = await list();
    expect(left).toHaveLength(before.length + 2);
    await store.removeUnfinished();
    expect(await list()).toEqual(left);
    const now = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 7 * 60 * 60 * 1000);
    await store.removeUnfinished().finally(() => now.mockRestore());
    expect(await list()).toEqual(before);
    const { Bucket, Key } = bucket.at('reports/of-others');
    const { Uploads = [] } = await bucket.ask(new ListMultipartUploadsCommand({ Bucket }));
    expect(Uploads.map((upload) => upload.Key)).toEqual([Key]);
  });

  test('copies objects in parts if they are larger than the limit of one call', async () => {
    const large = randomBytes(12_000_000);
    const from = await store.write(Readable.from([large]));
    const sizes = { bytesMax: 11_000_000, partBytes: 5 * 1024 * 1024 };
    const source = { name: nameOfBlob(from.sha256), etag: undefined, sizeBytes: large.length };
    await copyObject(bucket, 'aa/copy', source, sizes);
    const { Body } = await bucket.ask(new GetObjectCommand(bucket.at('aa/copy')));
    expect((await buffer(Body as Readable)).equals(large)).toBe(true);
    expect(proxy.seen.filter((call) => call.includes('partNumber'))).toHaveLength(3 + 2);
  });

  test('does not report files as damaged if the store is empty, because it may be another bucket', async () => {
    const elsewhere = openBucket({ ...settings, prefix: 'empty/' });
    const options = { copies: { dir, bytesMax: 0 }, links: false };
    const empty = await openS3BlobStore(elsewhere, options);
    await expect(empty.read(sha256)).rejects.toMatchObject({
      code: 'unavailable',
      cause: { message: expect.stringContaining('BAKEHOUSE_S3_PREFIX') },
    });
    expect(await empty.stat(sha256)).toBeNull();
    expect(await empty.freeBytes()).toBeNull();
  });
});

describe('at startup', () => {
  const starting = (more: Partial<typeof settings> = {}) =>
    requireBucket(openBucket({ ...settings, ...more }));
  afterEach(() => {
    proxy.fault = () => null;
    signIn(s3.owner);
  });

  test('a readable and writable bucket is accepted, and no test object is left in it', async () => {
    const before = await list();
    await starting();
    expect(await list()).toEqual(before);
  });

  test('a missing bucket is rejected', async () => {
    await expect(starting({ bucket: 'rolls' })).rejects.toThrow(
      `There is no bucket 'rolls' at ${proxy.endpoint}: create it, or correct BAKEHOUSE_S3_BUCKET.`,
    );
  });

  test("another account's bucket is rejected", async () => {
    signIn(s3.stranger);
    await expect(starting()).rejects.toThrow(
      "denies these credentials access to the bucket 'loaves' (AccessDenied)",
    );
  });

  test('a read-only bucket is rejected', async () => {
    proxy.fault = ({ method }) => (method === 'PUT' ? { status: 403, code: 'AccessDenied' } : null);
    await expect(starting()).rejects.toThrow('They need s3:ListBucket');
  });

  test.each([
    ['AWS_SECRET_ACCESS_KEY', 'SignatureDoesNotMatch'],
    ['AWS_ACCESS_KEY_ID', 'InvalidAccessKeyId'],
  ])('a wrong %s is rejected', async (name, code) => {
    vi.stubEnv(name, 'AKIAWRONG');
    await expect(starting()).rejects.toThrow(`does not accept the credentials (${code})`);
  });

  test('names the correct region', async () => {
    proxy.fault = () => ({ status: 301, code: 'PermanentRedirect', fields: { Region: 'ap-south-1' } });
    await expect(starting()).rejects.toThrow(
      "The bucket 'loaves' is in the region ap-south-1, not in eu-west-1: set BAKEHOUSE_S3_REGION.",
    );
  });

  test('names an unresponsive endpoint', async () => {
    await expect(starting({ endpoint: 'http://127.0.0.1:9' })).rejects.toThrow(
      'http://127.0.0.1:9 cannot be reached (ECONNREFUSED): correct BAKEHOUSE_S3_ENDPOINT',
    );
  });
});
