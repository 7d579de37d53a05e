import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { expect, test, vi } from 'vitest';
import { findStoredBytes } from '../../../platform/storage/owner-queries.ts';
import { testServer } from '../../../testing/test-server.ts';
import { hubCalls } from '../testing/hub-calls.ts';
import { collectHeaders, listPieces } from './read-pieces.ts';

const server = await testServer({ config: { storageGb: 1 / 1024 } });
const { signUpAs, send, refusal } = hubCalls(server);
const ada = await signUpAs('ada');
const bytes = (body: Buffer) => ({ as: ada, body: new Uint8Array(body) });

/** A term of a shard: a range of chunks in a xorb, and their total size. */
type Term = { xorb: Buffer; bytes: number; start?: number; end?: number };

/** Returns a shard with one file. */
function shardOf(...terms: Term[]): Buffer {
  const header = Buffer.alloc(48);
  header.writeBigUInt64LE(2n, 32);
  const file = Buffer.alloc(48);
  file.writeUInt32LE(terms.length, 36);
  const entries = terms.map(({ xorb, bytes: length, start = 0, end = 1 }) => {
    const term = Buffer.alloc(48);
    xorb.copy(term);
    term.writeUInt32LE(length, 36);
    term.writeUInt32LE(start, 40);
    term.writeUInt32LE(end, 44);
    return term;
  });
  return Buffer.concat([header, file, ...entries, Buffer.alloc(32, 0xff), Buffer.alloc(16)]);
}

/** Returns a xorb with uncompressed chunks. */
function xorbOf(...pieces: string[]): Buffer {
  return Buffer.concat(
    pieces.map((piece) => {
      const header = Buffer.alloc(8);
      header.writeUIntLE(piece.length, 1, 3);
      header.writeUIntLE(piece.length, 5, 3);
      return Buffer.concat([header, Buffer.from(piece)]);
    }),
  );
}

const SESSION = '/xet/2026-11-26';
const hexOf = (name: Buffer) => name.toString('hex');
const sendXorb = (name: Buffer, xorb: Buffer) =>
  send(`${SESSION}/v1/xorbs/default/${hexOf(name)}`, bytes(xorb));
const [A, B] = [Buffer.alloc(32, 0xaa), Buffer.alloc(32, 0xbb)];

test('rejects an invalid or truncated shard, and a shard that names missing xorbs', async () => {
  const unsent = shardOf({ xorb: Buffer.alloc(32, 1), bytes: 5 });
  const to = (body: Buffer, version = 'v1') => refusal(`${SESSION}/${version}/shards`, bytes(body));
  expect(await to(Buffer.from('nonsense'))).toMatchObject({ status: 400 });
  expect(await to(Buffer.from(''), 'v2')).toMatchObject({ status: 400 });
  expect(await to(unsent.subarray(0, 96))).toMatchObject({ status: 400 });
  expect(await to(unsent)).toMatchObject({
    status: 400,
    error: expect.stringContaining('which was not sent'),
  });
  const stream = await send(`${SESSION}/v2/shards`, bytes(unsent));
  expect(JSON.parse(await stream.text())).toMatchObject({ type: 'error', retryable: false });
});

test('validates the session date and the xorb hash', async () => {
  expect(await refusal('/xet/today/v1/shards', bytes(Buffer.from('x')))).toMatchObject({ status: 400 });
  expect(await refusal(`${SESSION}/v1/xorbs/default/short`, bytes(Buffer.from('x')))).toMatchObject({
    status: 400,
  });
});

test('limits the size and number of chunks in a xorb', async () => {
  const piecesOf = async (...chunks: Buffer[]) => {
    const headers: Buffer[] = [];
    await Array.fromAsync(collectHeaders(Readable.from(chunks), headers));
    return listPieces(Buffer.concat(headers));
  };
  const footer = Buffer.from('XETBLOB');
  const xorb = Buffer.concat([xorbOf('ab', 'c'), footer]);
  expect(await piecesOf(...[...xorb].map((byte) => Buffer.from([byte])))).toEqual([
    { from: 8, storedBytes: 2, scheme: 0, bytes: 2 },
    { from: 18, storedBytes: 1, scheme: 0, bytes: 1 },
  ]);
  await expect(piecesOf(xorbOf('ab').subarray(0, 9))).rejects.toThrow('The xorb is not whole');
  await expect(piecesOf(Buffer.alloc(16))).rejects.toThrow('A piece of the xorb has no bytes');
  const many = xorbOf(...Array.from({ length: 8193 }, () => 'a'));
  await expect(piecesOf(many)).rejects.toThrow('at most 8192 pieces');
  const padded = xorbOf('x'.repeat(5000));
  padded.writeUIntLE(1, 5, 3);
  await expect(piecesOf(padded)).rejects.toThrow('larger compressed than it is');
});

test('assembles a file that alternates between xorbs, and reads only the chunks that the file needs', async () => {
  expect((await sendXorb(A, xorbOf('ab', 'cd'))).status).toBe(200);
  expect((await sendXorb(B, xorbOf('1', '2', '3'))).status).toBe(200);
  const read = vi.spyOn(server.services.blobs, 'read');
  const shard = shardOf(
    { xorb: A, bytes: 2 },
    { xorb: B, bytes: 2, end: 2 },
    { xorb: A, bytes: 2, start: 1, end: 2 },
    { xorb: B, bytes: 1, start: 2, end: 3 },
  );
  expect((await send(`${SESSION}/v1/shards`, bytes(shard))).status).toBe(200);
  const sizes = read.mock.calls.map(([, range]) => (range ? range.end - range.start + 1 : null));
  // Two chunks of B are adjacent in the file, but there is a header between them in the xorb.
  expect(sizes).toEqual([2, 10, 2, 1]);
  read.mockRestore();
  const oid = createHash('sha256').update('ab12cd3').digest('hex');
  const verified = await send('/lfs/verify', { as: ada, body: { oid, size: 7 } });
  expect(verified.status).toBe(200);
});

test('rejects a term if the size of its chunks is not the stated one', async () => {
  await sendXorb(A, xorbOf('ab', 'cd'));
  expect(await refusal(`${SESSION}/v1/shards`, bytes(shardOf({ xorb: A, bytes: 1 })))).toMatchObject({
    status: 400,
    error: expect.stringContaining('do not have the stated size'),
  });
});

test("limits the number of a file's terms by its size", async () => {
  await sendXorb(A, xorbOf('ab', 'cd'));
  const terms = Array.from({ length: 17 }, () => ({ xorb: A, bytes: 2 }));
  expect(await refusal(`${SESSION}/v1/shards`, bytes(shardOf(...terms)))).toMatchObject({
    status: 400,
    error: expect.stringContaining('more terms than a file of its size'),
  });
});

test('stops reading if the client has disconnected', async () => {
  await sendXorb(A, xorbOf('ab', 'cd'));
  const stop = new AbortController();
  const read = server.services.blobs.read;
  const slow = vi.spyOn(server.services.blobs, 'read').mockImplementation(async (...range) => {
    stop.abort();
    await new Promise((resolve) => setTimeout(resolve, 200));
    return read(...range);
  });
  const shard = shardOf(...Array.from({ length: 16 }, () => ({ xorb: A, bytes: 2 })));
  const leaving = fetch(`${server.url}/hub${SESSION}/v1/shards`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ada.apiKey}` },
    body: new Uint8Array(shard),
    signal: stop.signal,
  });
  await expect(leaving).rejects.toThrow();
  await new Promise((resolve) => setTimeout(resolve, 600));
  expect(slow.mock.calls.length).toBeLessThan(3);
  slow.mockRestore();
});

test('holds at most two shards per user in memory, and makes others wait', async () => {
  const stop = new AbortController();
  const open = () =>
    fetch(`${server.url}/hub${SESSION}/v1/shards`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ada.apiKey}` },
      body: new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(1)) }),
      signal: stop.signal,
      duplex: 'half',
    }).catch(() => null);
  const both = [open(), open()];
  const another = () => refusal(`${SESSION}/v1/shards`, bytes(Buffer.from('x')));
  await expect
    .poll(another)
    .toMatchObject({ status: 503, error: expect.stringContaining('Too many shards') });
  stop.abort();
  await Promise.all(both);
  await expect.poll(another).toMatchObject({ status: 400 });
});

test('does not count xorbs against the quota but limits them separately, and checks the quota before assembling a file', async () => {
  const bob = await signUpAs('bob');
  const as = (body: Buffer) => ({ as: bob, body: new Uint8Array(body) });
  const piece = 'x'.repeat(600 * 1024);
  const half = { xorb: A, bytes: piece.length };
  expect((await send(`${SESSION}/v1/xorbs/default/${hexOf(A)}`, as(xorbOf(piece)))).status).toBe(200);
  expect(await refusal(`${SESSION}/v1/shards`, as(shardOf(half, half)))).toMatchObject({
    status: 413,
    error: expect.stringContaining('This file needs 1.17 MB'),
  });
  const { db } = server.services;
  const made = db
    .selectFrom('blobs')
    .select('sha256')
    .where('size_bytes', '=', BigInt(2 * piece.length));
  expect(await made.execute()).toEqual([]);
  expect((await send(`${SESSION}/v1/shards`, as(shardOf(half)))).status).toBe(200);
  expect(await findStoredBytes(db, bob.userId)).toBe(BigInt(piece.length));
  const another = as(xorbOf('y'.repeat(600 * 1024)));
  expect(await refusal(`${SESSION}/v1/xorbs/default/${hexOf(B)}`, another)).toMatchObject({
    status: 413,
    error: expect.stringContaining('can be uploaded by Xet within two days'),
  });
});
