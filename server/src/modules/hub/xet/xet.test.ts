import { expect, test } from 'vitest';
import { testServer } from '../../../testing/test-server.ts';
import { hubCalls } from '../testing/hub-calls.ts';

const server = await testServer();
const { signUpAs, send, refusal } = hubCalls(server);
const ada = await signUpAs('ada');
const bytes = (body: Buffer) => ({ as: ada, body: new Uint8Array(body) });

/** A shard of one file, which is the first piece of a xorb. */
function shardOf(xorb: Buffer): Buffer {
  const header = Buffer.alloc(48);
  header.writeBigUInt64LE(2n, 32);
  const file = Buffer.alloc(48);
  file.writeUInt32LE(1, 36);
  const term = Buffer.alloc(48);
  xorb.copy(term);
  term.writeUInt32LE(5, 36);
  term.writeUInt32LE(1, 44);
  return Buffer.concat([header, file, term, Buffer.alloc(32, 0xff), Buffer.alloc(16)]);
}

test('a shard that is none, is cut or names what was not sent is refused', async () => {
  const to = (body: Buffer, version = 'v1') => refusal(`/xet/2026-11-26/${version}/shards`, bytes(body));
  expect(await to(Buffer.from('nonsense'))).toMatchObject({ status: 400 });
  expect(await to(shardOf(Buffer.alloc(32, 1)).subarray(0, 96))).toMatchObject({ status: 400 });
  expect(await to(shardOf(Buffer.alloc(32, 1)))).toMatchObject({
    status: 400,
    error: expect.stringContaining('which was not sent'),
  });
  const stream = await send('/xet/2026-11-26/v2/shards', bytes(shardOf(Buffer.alloc(32, 1))));
  expect(JSON.parse(await stream.text())).toMatchObject({ type: 'error', retryable: false });
});

test('a session is a day, and a xorb has the hash for its name', async () => {
  expect(await refusal('/xet/today/v1/shards', bytes(Buffer.from('x')))).toMatchObject({ status: 400 });
  expect(await refusal('/xet/2026-11-26/v1/xorbs/default/short', bytes(Buffer.from('x')))).toMatchObject({
    status: 400,
  });
});
