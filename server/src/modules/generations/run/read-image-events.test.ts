import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { type AnswerEvent, readImageEvents } from './read-image-events.ts';

const step = { type: 'step', step: 1, expert_weights: null, preview: null };
const done = {
  ...{ type: 'done', media_type: 'image/png', size_bytes: 6, width: 1, height: 1, duration_s: null },
  ...{ expert_used: null, routing_confidence: null, beside: [] },
};
const lines = `${JSON.stringify(step)}\n${JSON.stringify(done)}\n`;

/** Reads the files of the last event in order. */
async function readFiles(event: Extract<AnswerEvent, { type: 'done' }>) {
  const bytes = await buffer(Readable.from(event.bytes));
  const beside = [];
  for (const one of event.beside) beside.push({ ...one, bytes: await buffer(Readable.from(one.bytes)) });
  return { ...event, bytes, beside };
}

/** Returns the events of a response that arrives in pieces of this size; the last event includes its file. */
async function read(answer: Buffer, pieceBytes: number) {
  const pieces = Array.from({ length: Math.ceil(answer.length / pieceBytes) }, (_, at) =>
    answer.subarray(at * pieceBytes, (at + 1) * pieceBytes),
  );
  const events: object[] = [];
  for await (const event of readImageEvents(Readable.from(pieces) as IncomingMessage, () => undefined))
    events.push(event.type === 'done' ? await readFiles(event) : event);
  return events;
}

test.each([1, 7, 100, 10_000])('reads lines and the file after them in pieces of %i bytes', async (size) => {
  const file = Buffer.from('a\nb\n\0c');
  expect(await read(Buffer.concat([Buffer.from(lines), file]), size)).toEqual([
    step,
    { ...done, bytes: file },
  ]);
});

test.each([1, 7, 10_000])('reads the pictures after a video in pieces of %i bytes', async (size) => {
  const beside = [
    { role: 'poster', media_type: 'image/webp', size_bytes: 4, width: 1, height: 1 },
    { role: 'strip', media_type: 'image/webp', size_bytes: 1, width: 8, height: 1 },
  ];
  const line = `${JSON.stringify({ ...done, media_type: 'video/mp4', beside })}\n`;
  const [event] = await read(Buffer.from(`${line}\n\nclipposts`), size);
  expect(event).toMatchObject({ bytes: Buffer.from('\n\nclip') });
  expect(event).toMatchObject({ beside: [{ bytes: Buffer.from('post') }, { bytes: Buffer.from('s') }] });
  for (const broken of ['\n\nclippost', '\n\nclipposts!'])
    await expect(read(Buffer.from(line + broken), size)).rejects.toMatchObject({ code: 'unavailable' });
});

/** The last line of a video with these pictures, then all bytes. Each picture is one byte. */
function doneWith(...roles: string[]): string {
  const size = { size_bytes: 1, width: 1, height: 1 };
  const beside = roles.map((role) => ({ role, media_type: 'image/webp', ...size }));
  const line = JSON.stringify({ ...done, ...size, media_type: 'video/mp4', beside });
  return `${line}\n${'.'.repeat(1 + roles.length)}`;
}

test('accepts a video with a poster and a strip', async () => {
  expect(await read(Buffer.from(doneWith('strip', 'poster')), 50)).toMatchObject([{ type: 'done' }]);
});

test.each([
  ['that breaks off in a line', lines.slice(0, 20)],
  ['that ends without a file', `${JSON.stringify(step)}\n`],
  ['whose file breaks off', `${lines}abc`],
  ['whose file is too long', `${lines}abcdefgh`],
  ['with an invalid event', '{"type":"cake"}\n'],
  ['with two posters', doneWith('poster', 'poster')],
  ['with three pictures', doneWith('poster', 'strip', 'strip')],
  ['with invalid JSON', 'bread\n'],
])('rejects a response %s', async (_what, answer) => {
  await expect(read(Buffer.from(answer), 50)).rejects.toMatchObject({ code: 'unavailable' });
});

test('rejects a line without an end', async () => {
  await expect(read(Buffer.alloc(2 * 1024 * 1024, 'a'), 65_536)).rejects.toMatchObject({
    cause: new Error('the model server sent a line without an end'),
  });
});
