import { createHash, type Hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../../../config.ts';
import { unavailable } from '../../../platform/errors.ts';
import { ProgramFailed, runProgram } from '../../../platform/processes/run-program.ts';
import type { ServingEngine, SpecKind } from '../../model/spec-kind.ts';
import { type Environment, environmentOf, environments, type Layer, lockFiles } from './layers.ts';

/** The runtime's folder in the repository, with its lock files and its source. */
export const runtimeDir = path.resolve(import.meta.dirname, '../../../../../runtime');

const lockHashes = new Map<Layer, Hash>();

/** The layer with each engine's packages; without PyTorch only llama.cpp is available. */
const layerOfEngine = {
  llamacpp: 'serving',
  encoder: 'serving',
  vllm: 'vllm',
  paris: 'training',
  kontext: 'training',
  wan: 'training',
} as const satisfies Record<ServingEngine, Layer>;

/** All spec kinds. */
export const specKinds: SpecKind[] = [
  { kind: 'train', engine: null },
  { kind: 'export', engine: null },
  ...(Object.keys(layerOfEngine) as ServingEngine[]).map((engine) => ({ kind: 'serve', engine }) as const),
];

const MINOR_MIN = 11;

export type EnvironmentSettings = Pick<Config, 'cacheDir' | 'python' | 'torchIndex'>;

/** Returns an environment's folder, named by a hash of its content: clones and test runs share it. */
export async function environmentDir(
  { cacheDir, torchIndex }: EnvironmentSettings,
  environment: Environment = 'python',
): Promise<string> {
  const hash = await hashOfLock(environment === 'python' ? 'training' : environment);
  if (environment === 'python' && torchIndex) hash.update(torchIndex);
  return path.join(cacheDir, environment, hash.digest('hex').slice(0, 16));
}

export async function environmentPython(
  settings: EnvironmentSettings,
  environment?: Environment,
): Promise<string> {
  return pythonOf(await environmentDir(settings, environment));
}

export function pythonOf(dir: string): string {
  return path.join(dir, 'bin', 'python');
}

/** Returns the stamp file of a layer. It is written last, and records what was installed. */
export function stampOf(dir: string, layer: Layer): string {
  return path.join(dir, `.bakehouse-${layer}`);
}

/**
 * Returns the SHA-256 of a lock file as a hash object, so that callers can add more data. Cached, because the
 * queue calls this every second for each waiting workload. An upgrade restarts the server, so the cache is
 * never stale.
 */
export async function hashOfLock(layer: Layer): Promise<Hash> {
  const known = lockHashes.get(layer);
  if (known) return known.copy();
  const hash = createHash('sha256').update(await readFile(path.join(runtimeDir, lockFiles[layer])));
  lockHashes.set(layer, hash);
  return hash.copy();
}

/** Returns true if a layer, or a later layer that contains it, is completely installed. */
export async function hasLayer(settings: EnvironmentSettings, layer: Layer): Promise<boolean> {
  const dir = await environmentDir(settings, environmentOf(layer));
  const layers: readonly Layer[] = environments[environmentOf(layer)];
  for (const one of layers.slice(layers.indexOf(layer))) {
    const installed = await readFile(stampOf(dir, one), 'utf8').catch(() => '');
    if (installed === (await hashOfLock(one)).digest('hex')) return true;
  }
  return false;
}

type NeededLayer = (typeof layerOfEngine)[ServingEngine];

/** Returns the environment layer that this kind of work needs. */
export function neededLayer({ engine }: SpecKind): NeededLayer {
  return engine === null ? 'training' : layerOfEngine[engine];
}

/**
 * Returns a supported Python: `named` if it is new enough, otherwise the first available of 3.13, 3.12, 3.11,
 * 3.14 and the system's own. 3.14 has a late place because packages are slow to support new versions. Throws
 * AppError('unavailable') with instructions.
 */
export async function findPython(named: string): Promise<string> {
  for (const candidate of [named, 'python3.13', 'python3.12', 'python3.11', 'python3.14', 'python3']) {
    const version = await versionOf(candidate);
    if (version && isNewEnough(version)) return candidate;
  }
  throw unavailable(
    'Training and chat need Python 3.11 or newer, which was not found on this machine. ' +
      'Install it, or set BAKEHOUSE_PYTHON to its path; everything else works without it.',
  );
}

/** '3.11.7' is new enough, '3.9.2' and '2.7.18' are not. */
export function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major === 3 && minor >= MINOR_MIN;
}

async function versionOf(python: string): Promise<string | null> {
  const print = 'import platform; print(platform.python_version())';
  const output = await runProgram(python, ['-c', print]).catch(() => []);
  return output.at(-1) ?? null;
}

/** Turns a program's output into one user-facing sentence. */
export function explainFailure(what: string, error: unknown, cacheDir: string): string {
  const output = error instanceof ProgramFailed ? error.output.join('\n') : String(error);
  if (/No space left on device|ENOSPC/i.test(output)) {
    return `The disk of ${cacheDir} is full. Free some space, or set BAKEHOUSE_CACHE_DIR to another folder.`;
  }
  if (/ensurepip|No module named venv/.test(output)) {
    return "This machine's Python cannot create virtual environments: install its venv module (Debian, Ubuntu: apt install python3-venv).";
  }
  if (
    /dns error|error sending request|Connection refused|timed out|Could not (connect|fetch)|Failed to fetch/i.test(
      output,
    )
  ) {
    return `${what} could not be downloaded: the package index does not answer.`;
  }
  const last = output.trim().split('\n').at(-1) ?? '';
  return `${what} could not be prepared: ${last}`;
}
