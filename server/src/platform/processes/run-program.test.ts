import { Readable } from 'node:stream';
import { expect, test, vi } from 'vitest';
import { readLines } from './processes.ts';
import { runProgram } from './run-program.ts';

test('splits lines only at line feeds, also if a line arrives in two chunks', async () => {
  const bytes = Buffer.from('Zürich\u2028\u2029\u0085 ✓\r\n\nrest\rof it');
  const stream = Readable.from([...bytes].map((byte) => Buffer.of(byte)));
  expect(await Array.fromAsync(readLines(stream))).toEqual(['Zürich\u2028\u2029\u0085 ✓', '', 'rest\rof it']);
});

test('rejects a line that is too long, and closes its stream', async () => {
  const stream = Readable.from(['short\n', 'x'.repeat(11)]);
  await expect(Array.fromAsync(readLines(stream, 10))).rejects.toThrow('more than 10 characters');
  expect(stream.destroyed).toBe(true);
});

test('passes a line of JSON with U+2028 on as one line', async () => {
  const json = JSON.stringify({ text: 'one\u2028two' });
  const lines: unknown[] = [];
  const onLine = (line: string) => void lines.push(JSON.parse(line));
  await runProgram(process.execPath, ['-e', 'console.log(process.argv[1])', json], { onLine });
  expect(lines).toEqual([{ text: 'one\u2028two' }]);
});

test('rejects with the error of a line handler, and ends the program', async () => {
  const running = runProgram('sh', ['-c', 'echo $$; exec sleep 600'], {
    onLine: (pid) => {
      throw new Error(pid);
    },
  });
  const pid = await running.then(String, ({ message }: Error) => message);
  await vi.waitFor(() => expect(() => process.kill(Number(pid), 0)).toThrow('ESRCH'));
});
