import { createHash, type Hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, statfs, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../../config.ts';
import { AppError } from '../../platform/errors.ts';
import { withFileLock } from './file-lock.ts';
import { bytesNeeded, type Layer, layers, lockFiles, refuseFullDisk, splitTorch } from './layers.ts';
import { findPython } from './python.ts';
import { ProgramFailed, runProgram } from './run-program.ts';
import { describeUv, estimateUv, readUvLine, uvAtStart } from './uv-progress.ts';

export const UV = 'uv==0.13.8';

/** The runtime's folder in the repository: its lock files and its source. */
export const runtimeDir = path.resolve(import.meta.dirname, '../../../../runtime');

export type EnvironmentSettings = Pick<Config, 'cacheDir' | 'python' | 'torchIndex'>;

/** `progress` is 0 to 1, or null while nothing is known. */
export type OnProgress = (detail: string, progress: number | null) => void;

/** The environment's folder. It is named after what is in it, so that every clone and every test run shares one. */
export async function environmentDir({ cacheDir, torchIndex }: EnvironmentSettings): Promise<string> {
  const hash = await hashOfLock('training');
  if (torchIndex) hash.update(torchIndex);
  return path.join(cacheDir, 'python', hash.digest('hex').slice(0, 16));
}

/** The environment's Python. */
export async function environmentPython(settings: EnvironmentSettings): Promise<string> {
  return pythonOf(await environmentDir(settings));
}

function pythonOf(dir: string): string {
  return path.join(dir, 'bin', 'python');
}

/** Whether an environment's Python starts, and is the one that its packages were installed for. */
async function pythonRuns(dir: string): Promise<boolean> {
  const findPackages = "import os, sysconfig; os.stat(sysconfig.get_path('purelib'))";
  return runProgram(pythonOf(dir), ['-c', findPackages]).then(
    () => true,
    () => false,
  );
}

/** Whether a layer has been installed to its end. */
export async function hasLayer(settings: EnvironmentSettings, layer: Layer): Promise<boolean> {
  const installed = await readFile(stampOf(await environmentDir(settings), layer), 'utf8').catch(() => '');
  return installed === (await hashOfLock(layer)).digest('hex');
}

/**
 * Installs a layer of the environment, unless it is there and its Python runs: an upgrade of the
 * machine may have taken away the one that it was made with. Several processes may ask at once: one
 * works, the others wait. Killed in the middle, the next call completes it.
 * Throws AppError('unavailable') with one sentence for people.
 */
export async function ensureLayer(
  settings: EnvironmentSettings,
  layer: Layer,
  onProgress: OnProgress,
  signal?: AbortSignal,
): Promise<void> {
  const dir = await environmentDir(settings);
  if ((await hasLayer(settings, layer)) && (await pythonRuns(dir))) return;
  try {
    await mkdir(path.dirname(dir), { recursive: true });
    await withFileLock(`${dir}.lock`, () => install(settings, layer, dir, onProgress, signal), {
      onWait: () => onProgress('Another process is preparing it; waiting', null),
      signal,
    });
  } catch (error) {
    if (signal?.aborted || error instanceof AppError) throw error;
    throw new AppError('unavailable', {
      publicMessage: explain('The Python packages', error, settings.cacheDir),
      cause: error,
    });
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
  // Without its Python no layer is there, and none is promised before it has been made again.
  if (!runs) for (const one of layers) await rm(stampOf(dir, one), { force: true });
  if (await hasLayer(settings, layer)) return;
  const needed = bytesNeeded(layer, { torchIndex: settings.torchIndex, platform: process.platform });
  const freeAtStart = await freeBytes(settings.cacheDir);
  const refusal = refuseFullDisk(layer, settings.cacheDir, freeAtStart, needed);
  if (refusal) throw new AppError('unavailable', { publicMessage: refusal });

  onProgress('Looking for Python and uv', null);
  const uv = await ensureUv(settings, signal);
  const python = pythonOf(dir);
  if (!runs) {
    await runProgram(uv, ['venv', '--clear', '--python', await findPython(settings.python), dir], { signal });
  }

  let said = uvAtStart;
  let filled = 0;
  const tell = () => onProgress(describeUv(said), estimateUv(said, filled, needed));
  const watch = setInterval(() => {
    freeBytes(settings.cacheDir).then((free) => {
      filled = freeAtStart - free;
      tell();
    }, ignoreMeasure);
  }, 1000);
  const stamp = stampOf(dir, layer);
  const begun = `${stamp}.begun`;
  // An installation that was killed may have left half a package, which looks whole to uv.
  const afterKill = existsSync(begun) ? ['--reinstall'] : [];
  const pipInstall = (packages: string[]) =>
    runProgram(uv, ['pip', 'install', '--no-deps', '--python', python, ...afterKill, ...packages], {
      cwd: runtimeDir,
      signal,
      onLine: (line) => {
        said = readUvLine(said, line);
        tell();
      },
    });
  try {
    await writeFile(begun, '');
    const lock = path.join(runtimeDir, lockFiles[layer]);
    const { rest, torch } = splitTorch(await readFile(lock, 'utf8'));
    if (settings.torchIndex && torch) {
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

/** uv, from PyPI, in a small environment of its own. */
async function ensureUv(
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

/** One sentence for people out of what a program printed. */
export function explain(what: string, error: unknown, cacheDir: string): string {
  const output = error instanceof ProgramFailed ? error.output.join('\n') : String(error);
  if (/No space left on device|ENOSPC/i.test(output)) {
    return `The disk of ${cacheDir} is full. Make room, or name another folder in BAKEHOUSE_CACHE_DIR.`;
  }
  if (/ensurepip|No module named venv/.test(output)) {
    return "This machine's Python cannot make environments: install its venv module (Debian, Ubuntu: apt install python3-venv).";
  }
  if (
    /dns error|error sending request|Connection refused|timed out|Could not (connect|fetch)|Failed to fetch/i.test(
      output,
    )
  ) {
    return `${what} could not be downloaded: the package index does not answer.`;
  }
  const last = output.trim().split('\n').at(-1) ?? '';
  return `${what} could not be made ready: ${last}`;
}

/** A measure that failed is made up by the next one. */
function ignoreMeasure(): void {}

async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

function stampOf(dir: string, layer: Layer): string {
  return path.join(dir, `.bakehouse-${layer}`);
}

/**
 * SHA-256 of a lock file, which more can be added to. Read once: the queue asks every second for
 * each workload that waits, and a server that was upgraded starts anew.
 */
async function hashOfLock(layer: Layer): Promise<Hash> {
  const known = lockHashes.get(layer);
  if (known) return known.copy();
  const hash = createHash('sha256').update(await readFile(path.join(runtimeDir, lockFiles[layer])));
  lockHashes.set(layer, hash);
  return hash.copy();
}

const lockHashes = new Map<Layer, Hash>();
