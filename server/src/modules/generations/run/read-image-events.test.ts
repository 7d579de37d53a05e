import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { readImageEvents } from './read-image-events.ts';

const step = { type: 'step', step: 1, expert_weights: null, preview: null };
const done = {
  ...{ type: 'done', media_type: 'image/png', size_bytes: 6, width: 1, height: 1, duration_s: null },
  ...{ expert_used: null, routing_confidence: null },
};
const lines = `${JSON.stringify(step)}\n${JSON.stringify(done)}\n`;

/** What is read of an answer that comes in pieces of this size: its events, the last with its file. */
async function read(answer: Buffer, pieceBytes: number) {
  const pieces = Array.from({ length: Math.ceil(answer.length / pieceBytes) }, (_, at) =>
    answer.subarray(at * pieceBytes, (at + 1) * pieceBytes),
  );
  const events: object[] = [];
  for await (const event of readImageEvents(Readable.from(pieces) as IncomingMessage, () => undefined))
    events.push(
      event.type === 'done' ? { ...event, bytes: await buffer(Readable.from(event.bytes)) } : event,
    );
  return events;
}

test.each([1, 7, 100, 10_000])(
  'lines and the file after them are read in pieces of %i bytes',
  async (size) => {
    const file = Buffer.from('a\nb\n\0c');
    expect(await read(Buffer.concat([Buffer.from(lines), file]), size)).toEqual([
      step,
      { ...done, bytes: file },
    ]);
  },
);

test.each([
  ['that breaks off in a line', lines.slice(0, 20)],
  ['that ends without a file', `${JSON.stringify(step)}\n`],
  ['whose file breaks off', `${lines}abc`],
  ['whose file goes on', `${lines}abcdefgh`],
  ['with what is no event', '{"type":"cake"}\n'],
  ['with what is no JSON', 'bread\n'],
])('an answer %s is refused', async (_what, answer) => {
  await expect(read(Buffer.from(answer), 50)).rejects.toMatchObject({ code: 'unavailable' });
});

test('a line without an end is not kept for ever', async () => {
  await expect(read(Buffer.alloc(2 * 1024 * 1024, 'a'), 65_536)).rejects.toMatchObject({
    cause: new Error('the model server sent a line without an end'),
  });
});
