import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { type EnvironmentSettings, environmentDir } from './environment.ts';

/** Whether an operator has added vLLM to the Python environment: no lock file holds it (docs/text-serving.md). */
export async function hasVllm(settings: EnvironmentSettings): Promise<boolean> {
  const lib = path.join(await environmentDir(settings), 'lib');
  const pythons = await readdir(lib).catch(() => []);
  return pythons.some((python) => existsSync(path.join(lib, python, 'site-packages', 'vllm', '__init__.py')));
}
