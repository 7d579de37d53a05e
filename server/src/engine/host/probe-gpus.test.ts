import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../testing/temporary-folder.ts';
import type { Gpu } from '../model/gpu.ts';
import { environmentPython } from './environment/environment.ts';
import { hasCCompiler, probeGpus, workingGpus } from './probe-gpus.ts';

/** Settings whose environment has this script instead of Python. */
async function withPython(script: string) {
  const settings = { cacheDir: await temporaryFolder(), python: 'python3', torchIndex: undefined };
  const python = await environmentPython(settings);
  await mkdir(path.dirname(python), { recursive: true });
  await writeFile(python, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return settings;
}

function listed(type: string, devices: number[]): Gpu {
  return { type, devices, memoryBytes: 24 * 1024 ** 3, like: 'NVIDIA_TESLA_V100' };
}

const never = new AbortController().signal;

test('explains what is missing for a GPU, as found by PyTorch', async () => {
  const settings = await withPython('echo "PyTorch finds no GPU." >&2; exit 1');
  expect(await probeGpus(settings, [3], never)).toEqual(['GPU 3 is not used: PyTorch finds no GPU.']);
});

test('excludes only the failed GPU, until it passes or preparation is disabled', async () => {
  const settings = await withPython(
    'test "$3" = probe && test "$CUDA_VISIBLE_DEVICES" != "$(cat "$0.broken")"',
  );
  const broken = `${await environmentPython(settings)}.broken`;
  const gpus = [listed('NVIDIA L4', [0, 2]), listed('NVIDIA T4', [1])];
  const working = async (prepare = true) =>
    (await workingGpus({ ...settings, prepare }, gpus)).map(({ devices }) => devices);

  await writeFile(broken, '1');
  expect(await working()).toEqual([[0, 2], [1]]);
  expect(await probeGpus(settings, [0, 2, 1], never)).toEqual(['GPU 1 is not used: PyTorch cannot use it.']);
  expect(await working()).toEqual([[0, 2]]);
  expect(await working(false)).toEqual([[0, 2], [1]]);

  await writeFile(broken, '2');
  await probeGpus(settings, [0, 2, 1], never);
  expect(await working()).toEqual([[0], [1]]);

  await writeFile(broken, '');
  expect(await probeGpus(settings, [0, 2, 1], never)).toEqual([]);
  expect(await working()).toEqual([[0, 2], [1]]);
});

test('counts a compiler only if it runs', async () => {
  const compiler = path.join(await temporaryFolder(), 'cc');
  expect(await hasCCompiler([compiler])).toBe(false);
  await writeFile(compiler, '#!/bin/sh', { mode: 0o755 });
  expect(await hasCCompiler([`${compiler}-other`, compiler])).toBe(true);
});
