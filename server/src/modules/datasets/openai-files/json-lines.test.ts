import { monitorEventLoopDelay } from 'node:perf_hooks';
import { expect, it } from 'vitest';
import { LINE_BYTES_MAX, LINES_MAX, readJsonLines } from './json-lines.ts';

async function* pieces(...all: (string | Buffer)[]) {
  for (const piece of all) yield Buffer.from(piece);
}
const lines = (...all: (string | Buffer)[]) => Array.fromAsync(readJsonLines(pieces(...all), 'file'));

it('parses objects wherever the bytes are split, and reports line numbers', async () => {
  const bread = Buffer.from('{"a": "Bröd"}');
  const cut = bread.indexOf(0xb6);
  expect(
    await lines('\uFEFF{"a": 1}\r\n\n{"a"', ': 2}\n', bread.subarray(0, cut), bread.subarray(cut)),
  ).toEqual([
    { number: 1, value: { a: 1 } },
    { number: 3, value: { a: 2 } },
    { number: 4, value: { a: 'Bröd' } },
  ]);
  expect(await lines('')).toEqual([]);
});

it.each([
  ['{"a": 1}\nquestion,answer\n', 'Line 2 is not valid JSON. Send JSON Lines: one object per line'],
  ['{"a": 1}\n[1]', 'Line 2 is not a JSON object. Send JSON Lines: one object per line'],
  [`{}\n"${'a'.repeat(LINE_BYTES_MAX)}"`, 'Line 2 has more than 4.00 MB'],
  [`${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}`, 'Line 1 has more than 100000 values'],
  [`{"a": [1${',1'.repeat(200_000)}]}`, 'Line 1 has more than 100000 values'],
])('rejects an invalid line by its number (%#)', async (text, publicMessage) => {
  await expect(lines(text)).rejects.toMatchObject({ code: 'invalid_request', param: 'file', publicMessage });
});

it('counts empty lines without blocking the event loop', async () => {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  await expect(lines(Buffer.alloc(LINES_MAX, '\n'))).rejects.toMatchObject({
    publicMessage: `A file has at most ${LINES_MAX} lines`,
  });
  delay.disable();
  // Reading 5 million lines takes about a second.
  expect(delay.max / 1e6).toBeLessThan(300);
});

it('reads a long line whose text looks like many values', async () => {
  const value = { text: '[{:,'.repeat(200_000), quote: '\\"['.repeat(200_000) };
  expect(await lines(JSON.stringify(value))).toEqual([{ number: 1, value }]);
});

it('does not block the event loop if one line has many values', async () => {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  await expect(lines(`[1${',1'.repeat(LINE_BYTES_MAX / 2 - 2)}]`)).rejects.toMatchObject({
    publicMessage: 'Line 1 has more than 100000 values',
  });
  delay.disable();
  // Parsing all values in one step would take 230 ms.
  expect(delay.max / 1e6).toBeLessThan(100);
});
