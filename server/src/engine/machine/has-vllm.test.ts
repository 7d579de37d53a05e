import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../testing/temporary-folder.ts';
import { environmentDir } from './environment.ts';
import { hasVllm } from './has-vllm.ts';

it('finds vLLM where it has been installed', async () => {
  const settings = { cacheDir: await temporaryFolder(), python: 'python3', torchIndex: undefined };
  expect(await hasVllm(settings)).toBe(false);
  const packages = path.join(await environmentDir(settings), 'lib', 'python3.12', 'site-packages');
  await mkdir(path.join(packages, 'torch'), { recursive: true });
  expect(await hasVllm(settings)).toBe(false);
  await mkdir(path.join(packages, 'vllm'));
  await writeFile(path.join(packages, 'vllm', '__init__.py'), '');
  expect(await hasVllm(settings)).toBe(true);
});
