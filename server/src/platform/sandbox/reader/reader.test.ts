import { spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, test, vi } from 'vitest';
import { onFileEnd } from '../../../testing/on-file-end.ts';
import { temporaryFolder } from '../../../testing/temporary-folder.ts';
import { OutOfLimits, runConfined, runConfinedToFile } from '../../confined/run-confined.ts';
import { writeProgram } from '../../confined/testing/write-program.ts';
import { ProgramFailed, runProgram } from '../../processes/run-program.ts';
import { findReader } from '../find-sandbox.ts';

const READER = fileURLToPath(new URL('./reader-program.ts', import.meta.url));
const dir = await temporaryFolder();
const socket = path.join(dir, 'reader');
const sharedDir = path.join(dir, 'lent');
const reader = spawn(process.execPath, [READER, socket], { stdio: 'ignore' });
onFileEnd(async () => void reader.kill('SIGTERM'));
const sandbox = await findReader({ sharedDir, reads: [] }, socket);
const limits = { kind: 'preview', cpuSeconds: 20, heapMb: 64, userId: 'ada' } as const;

const program = (name: string, body: string) => writeProgram(dir, name, body);

test('a program answers through the reader, with its shared files and an empty environment', async () => {
  vi.stubEnv('BAKEHOUSE_SECRET', 'of the server');
  const localPath = path.join(dir, 'file');
  await writeFile(localPath, 'x'.repeat(2_000_000));
  const read = await program(
    'read',
    `const { readFile } = await import('node:fs/promises');
     return { text: await readFile(input.localPath, 'utf8'), secret: process.env.BAKEHOUSE_SECRET ?? null, said: input.said };`,
  );
  const answer = await runConfined(
    sandbox,
    { program: read, localPath, input: { said: 'Zürich ✓' } },
    limits,
  );
  expect(answer).toEqual({ text: 'x'.repeat(2_000_000), secret: null, said: 'Zürich ✓' });
  vi.unstubAllEnvs();
});

test('a program writes its result to the requested file', async () => {
  const write = await program(
    'write',
    `const { writeFile } = await import('node:fs/promises');
     await writeFile(input.folder + '/scratch/result', 'loaf'); return 'done';`,
  );
  const { answer, file } = await runConfinedToFile(sandbox, { program: write }, limits);
  expect(answer).toBe('done');
  expect(await file?.readFile('utf8')).toBe('loaf');
  await file?.close();
});

test('resource limits apply in the reader', async () => {
  const endless = await program('endless', 'for (;;) {}');
  await expect(runConfined(sandbox, { program: endless }, { ...limits, cpuSeconds: 1 })).rejects.toThrow(
    OutOfLimits,
  );
  const greedy = await program('greedy', 'const all = []; for (;;) all.push([all.length]);');
  await expect(runConfined(sandbox, { program: greedy }, limits)).rejects.toThrow(OutOfLimits);
});

test('an aborted program is killed with all its child processes', async () => {
  const note = path.join(dir, 'note');
  const busy = await program(
    'busy',
    `const { spawn } = await import('node:child_process');
     const child = spawn('/bin/sh', ['-c', 'echo $$ > ${note}; exec sleep 600'], { stdio: 'ignore' });
     await new Promise(() => setInterval(() => child.pid, 1000));`,
  );
  const leaving = new AbortController();
  const running = runConfined(sandbox, { program: busy }, { ...limits, signal: leaving.signal });
  running.catch(() => undefined);
  await vi.waitFor(async () => expect(await readFile(note, 'utf8')).toMatch(/^\d+\n$/), 10_000);
  leaving.abort(new Error('has left'));
  await expect(running).rejects.toThrow('has left');
  const started = Number(await readFile(note, 'utf8'));
  await vi.waitFor(() => expect(() => process.kill(started, 0)).toThrow('ESRCH'), 10_000);
});

test('reports how a program ended, and its output', async () => {
  const [command = '', ...args] = await sandbox.enclose({
    argv: ['/bin/sh', '-c', 'echo "no flour" >&2; exit 3'],
    ...{ cwd: dir, reads: [], writes: [], user: 0 },
  });
  const failed = await runProgram(command, args, { env: {} }).catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(ProgramFailed);
  expect(failed).toMatchObject({ status: 3, output: ['no flour'] });
});

test('a program has the given environment, and ends when it gets a signal', async () => {
  const [command = '', ...args] = await sandbox.enclose({
    argv: ['/bin/sh', '-c', 'echo "$FLOUR"; exec sleep 600'],
    ...{ cwd: dir, reads: [], writes: [], user: 0 },
  });
  const leaving = new AbortController();
  const lines: string[] = [];
  const running = runProgram(command, args, {
    env: { PATH: process.env.PATH, FLOUR: 'rye' },
    signal: leaving.signal,
    onLine: (line) => {
      lines.push(line);
      leaving.abort();
    },
  });
  await expect(running).rejects.toThrow();
  expect(lines).toEqual(['rye']);
});

test('rejects a request without a program, and a missing reader at startup', async () => {
  const caller = connect(socket);
  caller.end('{"argv": []}\n');
  expect(await text(caller)).toContain('argv');
  await expect(findReader({ sharedDir, reads: [] }, path.join(dir, 'nobody'), 0)).rejects.toThrow(
    /BAKEHOUSE_READER\) cannot run programs/,
  );
});
