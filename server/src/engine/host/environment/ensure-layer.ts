import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, statfs, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { AppError, unavailable } from '../../../platform/errors.ts';
import { runProgram } from '../../../platform/processes/run-program.ts';
import {
  type EnvironmentSettings,
  environmentDir,
  explainFailure,
  findPython,
  hashOfLock,
  hasLayer,
  pythonOf,
  runtimeDir,
  stampOf,
} from './environment.ts';
import { withFileLock } from './file-lock.ts';
import {
  bytesNeeded,
  environmentOf,
  environments,
  explainFullDisk,
  type Layer,
  lockFiles,
  splitTorch,
} from './layers.ts';
import { describeUv, estimateUv, readUvLine, uvAtStart } from './uv-progress.ts';

export const UV = 'uv==0.13.8';

/** `progress` is 0 to 1, or null if unknown. */
export type OnProgress = (detail: string, progress: number | null) => void;

/**
 * Installs a layer of its environment, unless it is already installed and its Python runs (a system upgrade
 * may have removed that Python). Several processes may call this at the same time: one installs, the others
 * wait. If that process is killed, the next call completes the installation. Throws AppError('unavailable')
 * with a user-facing sentence.
 */
export async function ensureLayer(
  settings: EnvironmentSettings,
  layer: Layer,
  onProgress: OnProgress,
  signal?: AbortSignal,
): Promise<void> {
  const dir = await environmentDir(settings, environmentOf(layer));
  if ((await hasLayer(settings, layer)) && (await pythonRuns(dir))) return;
  try {
    await mkdir(path.dirname(dir), { recursive: true });
    await withFileLock(`${dir}.lock`, () => install(settings, layer, dir, onProgress, signal), {
      onWait: () => onProgress('Waiting for another process that is installing it', null),
      signal,
    });
  } catch (error) {
    if (signal?.aborted || error instanceof AppError) throw error;
    throw unavailable(explainFailure('The Python packages', error, settings.cacheDir), { cause: error });
  }
}

async function install(
  settings: EnvironmentSettings,
  layer: Layer,
  dir: string,
  onProgress: OnProgress,
  signal: AbortSignal | undefined,
): Promise<void> {
  const runs = await pythonRuns(dir);
  // If the Python is gone, no layer is usable: delete all stamps. Reinstalling a layer stamps it again.
  if (!runs)
    for (const one of environments[environmentOf(layer)]) await rm(stampOf(dir, one), { force: true });
  if (await hasLayer(settings, layer)) return;
  const needed = bytesNeeded(layer, { torchIndex: settings.torchIndex, platform: process.platform });
  const freeAtStart = await freeBytes(settings.cacheDir);
  const refusal = explainFullDisk(layer, settings.cacheDir, freeAtStart, needed);
  if (refusal) throw unavailable(refusal);

  onProgress('Looking for Python and uv', null);
  const uv = await ensureUv(settings, signal);
  const python = pythonOf(dir);
  if (!runs) {
    await runProgram(uv, ['venv', '--clear', '--python', await findPython(settings.python), dir], { signal });
  }

  let uvState = uvAtStart;
  let filled = 0;
  const reportProgress = () => onProgress(describeUv(uvState), estimateUv(uvState, filled, needed));
  const watch = setInterval(() => {
    freeBytes(settings.cacheDir).then((free) => {
      filled = freeAtStart - free;
      reportProgress();
    }, ignoreMeasure);
  }, 1000);
  const stamp = stampOf(dir, layer);
  const begun = `${stamp}.begun`;
  // If an earlier installation was killed, half a package may exist that uv considers complete.
  const afterKill = existsSync(begun) ? ['--reinstall'] : [];
  // Compile now, because workloads cannot write to the environment: each would compile its imports again, for
  // 15 s.
  const options = ['--no-deps', '--compile-bytecode', '--python', python, ...afterKill];
  const pipInstall = (packages: string[]) =>
    runProgram(uv, ['pip', 'install', ...options, ...packages], {
      cwd: runtimeDir,
      signal,
      onLine: (line) => {
        uvState = readUvLine(uvState, line);
        reportProgress();
      },
    });
  try {
    await writeFile(begun, '');
    const lock = path.join(runtimeDir, lockFiles[layer]);
    const { rest, torch } = splitTorch(await readFile(lock, 'utf8'));
    // vLLM requires the PyTorch build that it was compiled for.
    if (settings.torchIndex && torch && layer !== 'vllm') {
      const withoutTorch = path.join(dir, lockFiles[layer]);
      await writeFile(withoutTorch, rest);
      await pipInstall(['--requirements', withoutTorch]);
      await pipInstall(['--index-url', settings.torchIndex, torch]);
    } else {
      await pipInstall(['--requirements', lock]);
    }
    await writeFile(stamp, (await hashOfLock(layer)).digest('hex'));
    await rm(begun);
  } finally {
    clearInterval(watch);
  }
}

/** True if an environment's Python starts and still matches its installed packages. */
async function pythonRuns(dir: string): Promise<boolean> {
  const findPackages = "import os, sysconfig; os.stat(sysconfig.get_path('purelib'))";
  return runProgram(pythonOf(dir), ['-c', findPackages]).then(
    () => true,
    () => false,
  );
}

/** Ignores a failed measurement; there will be another one soon. */
function ignoreMeasure(): void {}

async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

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
