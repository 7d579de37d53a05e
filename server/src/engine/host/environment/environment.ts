import { createHash, type Hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../../../config.ts';
import { type Environment, type Layer, lockFiles } from './layers.ts';

/** The runtime's folder in the repository: its lock files and its source. */
export const runtimeDir = path.resolve(import.meta.dirname, '../../../../../runtime');

export type EnvironmentSettings = Pick<Config, 'cacheDir' | 'python' | 'torchIndex'>;

/** An environment's folder. It is named after what is in it, so that every clone and every test run shares one. */
export async function environmentDir(
  { cacheDir, torchIndex }: EnvironmentSettings,
  environment: Environment = 'python',
): Promise<string> {
  const hash = await hashOfLock(environment === 'python' ? 'training' : environment);
  if (environment === 'python' && torchIndex) hash.update(torchIndex);
  return path.join(cacheDir, environment, hash.digest('hex').slice(0, 16));
}

/** An environment's Python. */
export async function environmentPython(
  settings: EnvironmentSettings,
  environment?: Environment,
): Promise<string> {
  return pythonOf(await environmentDir(settings, environment));
}

/** The Python in an environment's folder. */
export function pythonOf(dir: string): string {
  return path.join(dir, 'bin', 'python');
}

/** The file that says what a layer was installed from, once it is whole. */
export function stampOf(dir: string, layer: Layer): string {
  return path.join(dir, `.bakehouse-${layer}`);
}

/**
 * SHA-256 of a lock file, which more can be added to. Read once: the queue asks every second for
 * each workload that waits, and a server that was upgraded starts anew.
 */
export async function hashOfLock(layer: Layer): Promise<Hash> {
  const known = lockHashes.get(layer);
  if (known) return known.copy();
  const hash = createHash('sha256').update(await readFile(path.join(runtimeDir, lockFiles[layer])));
  lockHashes.set(layer, hash);
  return hash.copy();
}

const lockHashes = new Map<Layer, Hash>();
