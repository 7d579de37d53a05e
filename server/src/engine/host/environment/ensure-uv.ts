import path from 'node:path';
import { runProgram } from '../../../platform/processes/run-program.ts';
import type { EnvironmentSettings } from './environment.ts';
import { withFileLock } from './file-lock.ts';
import { findPython } from './python.ts';

export const UV = 'uv==0.13.8';

/** Installs uv from PyPI into a small separate environment. */
export async function ensureUv(
  { cacheDir, python }: EnvironmentSettings,
  signal: AbortSignal | undefined,
): Promise<string> {
  const dir = path.join(cacheDir, 'uv');
  const uv = path.join(dir, 'bin', 'uv');
  const isThere = async () => {
    const [version] = await runProgram(uv, ['--version']).catch(() => []);
    return version?.startsWith(UV.replace('==', ' ')) ?? false;
  };
  if (await isThere()) return uv;
  await withFileLock(
    `${dir}.lock`,
    async () => {
      if (await isThere()) return;
      await runProgram(await findPython(python), ['-m', 'venv', '--clear', dir], { signal });
      await runProgram(path.join(dir, 'bin', 'python'), ['-m', 'pip', 'install', '--quiet', UV], { signal });
    },
    { signal },
  );
  return uv;
}
