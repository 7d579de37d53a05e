import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import {
  CompleteMultipartUploadCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { type Bucket, type BucketSettings, openBucket } from '../../server/src/platform/storage/s3/bucket.ts';
import { listObjects } from '../../server/src/platform/storage/s3/read-object.ts';
import { openS3BlobStore } from '../../server/src/platform/storage/s3/s3-blob-store.ts';
import { startS3Server } from '../../server/src/testing/servers/s3-server.ts';
import { readSettings } from '../client/settings.ts';
import { timed } from './large-files.ts';
import { type Measured, medianPair, type Pair } from './measured.ts';

const ROUNDS = 3;
const PIECE = randomBytes(8 * 1024 * 1024);
/** Gigabytes: one for the test server, which has little space, and five for a bucket. */
const PIECES = { test: 128, bucket: 640 };
const AT_ONCE = 4;
const LOOK_MS = 50;

/**
 * Measures writing to the file store and reading from it, compared with hashing and the plain SDK. Uses five
 * gigabytes in the configured bucket, or one in a test server if none is configured.
 */
export async function measureStore(): Promise<Measured[]> {
  const { s3 } = readSettings();
  if (s3) return measureBucket({ ...s3, prefix: `${s3.prefix}bench/` }, PIECES.bucket);
  const server = await startS3Server();
  try {
    Object.assign(process.env, server.owner);
    const { endpoint } = server;
    const settings = { bucket: 'bench', prefix: '', endpoint, region: 'us-east-1', pathStyle: true };
    await openBucket(settings).ask(new CreateBucketCommand({ Bucket: settings.bucket }));
    return await measureBucket(settings, PIECES.test);
  } finally {
    await server.close();
  }
}

async function measureBucket(settings: BucketSettings, count: number): Promise<Measured[]> {
  const megabytes = (PIECE.length * count) / 1_000_000;
  const dir = await mkdtemp(path.join(tmpdir(), 'bakehouse-bench-'));
  const bucket = openBucket(settings);
  const store = await openS3BlobStore(bucket, { copies: { dir, bytesMax: 0 }, links: false });
  const expectedSha256 = hashOf(pieces(count));
  const [writes, reads]: [Pair[], Pair[]] = [[], []];
  const grown: number[] = [];
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      const name = `alone-${round}`;
      const written = await timed(() => putAlone(bucket, name, count));
      const read = await timed(() => getAlone(bucket, name));
      await bucket.ask(new DeleteObjectCommand(bucket.at(name)));
      const memory = watchMemory();
      const ours = await timed(async () => {
        await store.write(Readable.from(pieces(count)), { expectedSha256 });
      });
      writes.push({ ours: megabytes / ours, theirs: megabytes / written });
      const back = await timed(async () => {
        for await (const chunk of await store.read(expectedSha256)) void chunk;
      });
      reads.push({ ours: megabytes / back, theirs: megabytes / read });
      grown.push(memory.end());
      await store.delete(expectedSha256);
    }
  } finally {
    for await (const { name } of listObjects(bucket, ''))
      await bucket.ask(new DeleteObjectCommand(bucket.at(name)));
    await rm(dir, { recursive: true });
  }
  return [
    against(`${(megabytes / 1000).toFixed(0)} GB into the bucket`, writes),
    against(`${(megabytes / 1000).toFixed(0)} GB out of the bucket`, reads),
    {
      ...{ name: 'memory that this takes', unit: 'MB', ours: Math.max(...grown) },
      goal: { kind: 'less than', value: 150 },
    },
  ];
}

function against(name: string, rounds: Pair[]): Measured {
  const { ours, theirs } = medianPair(rounds);
  const reference = { what: 'hashing and the SDK alone', value: theirs };
  return { name, unit: 'MB/s', ours, reference, goal: { kind: 'ratio at least', value: 0.7 } };
}

function* pieces(count: number): Generator<Buffer> {
  for (let piece = 0; piece < count; piece += 1) yield PIECE;
}

function hashOf(bytes: Iterable<Buffer>): string {
  const hash = createHash('sha256');
  for (const piece of bytes) hash.update(piece);
  return hash.digest('hex');
}

/** As in the SDK's own guide: sends parts, four at a time, and hashes each one first. */
async function putAlone(bucket: Bucket, name: string, count: number): Promise<void> {
  const { UploadId } = await bucket.client.send(new CreateMultipartUploadCommand(bucket.at(name)));
  const upload = { ...bucket.at(name), UploadId };
  const hash = createHash('sha256');
  const left = [...pieces(count)].entries();
  const Parts: { PartNumber: number; ETag: string | undefined }[] = [];
  const work = async () => {
    for (const [index, Body] of left) {
      hash.update(Body);
      const part = { ...upload, PartNumber: index + 1, Body };
      const { ETag } = await bucket.client.send(new UploadPartCommand(part));
      Parts[index] = { PartNumber: index + 1, ETag };
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  hash.digest();
  await bucket.client.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } }));
}

async function getAlone(bucket: Bucket, name: string): Promise<void> {
  const { Body } = await bucket.client.send(new GetObjectCommand(bucket.at(name)));
  const hash = createHash('sha256');
  for await (const chunk of Body as Readable) hash.update(chunk);
  hash.digest();
}

/** Returns by how many MB the peak memory of this process grew. */
function watchMemory(): { end: () => number } {
  const before = process.memoryUsage.rss();
  let most = before;
  const look = () => {
    most = Math.max(most, process.memoryUsage.rss());
  };
  const timer = setInterval(look, LOOK_MS);
  return {
    end: () => {
      clearInterval(timer);
      look();
      return (most - before) / 1_000_000;
    },
  };
}
