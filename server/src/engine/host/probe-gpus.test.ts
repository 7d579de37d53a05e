import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../testing/temporary-folder.ts';
import { environmentPython } from './environment/environment.ts';
import { haveGpusFailed, probeGpus } from './probe-gpus.ts';

/** Settings whose environment has this script in the place of Python. */
async function withPython(script: string) {
  const settings = { cacheDir: await temporaryFolder(), python: 'python3', torchIndex: undefined };
  const python = await environmentPython(settings);
  await mkdir(path.dirname(python), { recursive: true });
  await writeFile(python, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return settings;
}

const never = new AbortController().signal;

test('what is missing for the GPUs is said as PyTorch found it', async () => {
  const settings = await withPython('echo "This machine has no C compiler." >&2; exit 1');
  await expect(probeGpus(settings, [0], never)).rejects.toMatchObject({
    code: 'unavailable',
    publicMessage: 'This machine has no C compiler.',
  });
});

test('those that are asked are the ones that work runs on', async () => {
  const settings = await withPython('test "$3" = probe && test "$CUDA_VISIBLE_DEVICES" = 0,2');
  await expect(probeGpus(settings, [0, 2], never)).resolves.toBeUndefined();
  await expect(probeGpus(settings, [1], never)).rejects.toThrow();
});

test('GPUs on which nothing could be computed are known as such until something can', async () => {
  const settings = await withPython('test "$CUDA_VISIBLE_DEVICES" = 0');
  expect(await haveGpusFailed(settings)).toBe(false);
  await expect(probeGpus(settings, [1], never)).rejects.toThrow();
  expect(await haveGpusFailed(settings)).toBe(true);
  await probeGpus(settings, [0], never);
  expect(await haveGpusFailed(settings)).toBe(false);
});
