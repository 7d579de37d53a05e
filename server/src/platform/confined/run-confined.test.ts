import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { temporaryFolder } from '../../testing/temporary-folder.ts';
import { noSandbox, type SandboxedCommand } from '../sandbox/sandbox.ts';
import { OutOfLimits, runConfined, runConfinedToFile } from './run-confined.ts';
import { writeProgram } from './testing/write-program.ts';

const dir = await temporaryFolder();
const sandbox = noSandbox(path.join(dir, 'lent'));
const limits = { kind: 'preview', cpuSeconds: 20, heapMb: 64, userId: 'ada' } as const;

const program = (name: string, body: string) => writeProgram(dir, name, body);

describe('a confined program', () => {
  test('returns an answer, and has an empty environment', async () => {
    const echo = await program('echo', 'return { input, names: Object.keys(process.env) };');
    const answer = await runConfined(
      sandbox,
      { program: echo, input: { text: 'Zürich ✓', list: [1, null] } },
      limits,
    );
    expect(answer).toMatchObject({ input: { text: 'Zürich ✓', list: [1, null] } });
    expect(Object.values(answer as { names: string[] }).flat()).not.toContain('PATH');
  });

  test('whose answer is not JSON rejects', async () => {
    const noisy = await program('noisy', "console.log('a warning of a library'); return 1;");
    await expect(runConfined(sandbox, { program: noisy }, limits)).rejects.toThrow('not valid JSON');
  });

  test('that never ends is killed', async () => {
    const endless = await program('endless', 'for (;;) {}');
    await expect(runConfined(sandbox, { program: endless }, { ...limits, cpuSeconds: 1 })).rejects.toThrow(
      OutOfLimits,
    );
  });

  test('that gets no CPU time fails as unavailable, not as too expensive', async () => {
    const waiting = await program('slow', 'await new Promise(() => setInterval(() => undefined, 1000));');
    await expect(
      runConfined(sandbox, { program: waiting }, { ...limits, wallMs: 300 }),
    ).rejects.toMatchObject({ code: 'unavailable' });
  });

  test('counts as killed even if its sandbox reports the signal as an exit status', async () => {
    const endless = await program('endless', 'for (;;) {}');
    const around = ['/bin/sh', '-c', '"$@"; exit "$?"', 'sh'];
    const telling = { ...sandbox, enclose: async ({ argv }: SandboxedCommand) => [...around, ...argv] };
    await expect(runConfined(telling, { program: endless }, { ...limits, cpuSeconds: 1 })).rejects.toThrow(
      OutOfLimits,
    );
  });

  test('is killed once its caller aborts', async () => {
    const waiting = await program('waiting', 'for (;;) {}');
    const leaving = new AbortController();
    const running = runConfined(sandbox, { program: waiting }, { ...limits, signal: leaving.signal });
    setTimeout(() => leaving.abort(new Error('has left')), 300);
    await expect(running).rejects.toThrow('has left');
  });

  test('that uses too much memory is killed alone', async () => {
    const greedy = await program('greedy', 'const all = []; for (;;) all.push([all.length]);');
    await expect(runConfined(sandbox, { program: greedy }, limits)).rejects.toThrow(OutOfLimits);
    // Allocates more than the whole heap in one step: a thread would take down its process.
    const large = await program('large', 'return new Array(3e7).fill(0).map((_, at) => [at]).length;');
    await expect(runConfined(sandbox, { program: large }, limits)).rejects.toThrow(OutOfLimits);
  });

  test.runIf(process.platform === 'linux')('has no memory outside its heap either', async () => {
    const buffers = await program(
      'buffers',
      'const all = []; for (let count = 0; count < 3000; count += 1) all.push(Buffer.alloc(2 ** 20, 1)); return all.length;',
    );
    await expect(runConfined(sandbox, { program: buffers }, limits)).rejects.toThrow();
  });

  test('that fails reports why', async () => {
    const failing = await program('failing', 'throw new Error("a fault of ours");');
    await expect(runConfined(sandbox, { program: failing }, limits)).rejects.toThrow('a fault of ours');
  });

  test('that writes a file does not start if the disk has no room for it', async () => {
    const echo = await program('writer', 'return { input };');
    await expect(runConfinedToFile(sandbox, { program: echo }, limits)).resolves.toMatchObject({
      file: null,
    });
    // Modules may already have imported the function, so update their bindings too.
    const statfs = vi.spyOn(fs, 'statfs').mockResolvedValue({ bavail: 1024 ** 2, bsize: 1024 } as never);
    syncBuiltinESMExports();
    try {
      await expect(runConfinedToFile(sandbox, { program: echo }, limits)).rejects.toMatchObject({
        code: 'unavailable',
      });
    } finally {
      statfs.mockRestore();
      syncBuiltinESMExports();
    }
  });

  test('does not wait for programs of other kinds', async () => {
    const endless = await program('endless', 'for (;;) {}');
    const leaving = new AbortController();
    const slow = ['ada', 'bob', 'eve'].map((userId) =>
      runConfined(
        sandbox,
        { program: endless },
        { ...limits, kind: 'query', userId, signal: leaving.signal },
      ).catch(() => null),
    );
    const echo = await program('beside', 'return input.name;');
    const asked = { program: echo, input: { name: 'here' } };
    await expect(runConfined(sandbox, asked, { ...limits, userId: 'zoe' })).resolves.toBe('here');
    leaving.abort();
    await Promise.all(slow);
  });

  test('of one user does not wait for all programs of another user', async () => {
    const echo = await program('turns', 'return input.name;');
    const order: unknown[] = [];
    const ask = async (userId: string, input: string) =>
      order.push(
        await runConfined(sandbox, { program: echo, input: { name: input } }, { ...limits, userId }),
      );
    await Promise.all([...['a1', 'a2', 'a3', 'a4', 'a5'].map((name) => ask('ada', name)), ask('bob', 'b1')]);
    expect(order.indexOf('b1')).toBeLessThan(order.indexOf('a5'));
  });
});
