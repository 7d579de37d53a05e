import { createHash, type Hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../../../config.ts';
import { type Environment, type Layer, lockFiles } from './layers.ts';

/** The runtime's folder in the repository, with its lock files and its source. */
export const runtimeDir = path.resolve(import.meta.dirname, '../../../../../runtime');

export type EnvironmentSettings = Pick<Config, 'cacheDir' | 'python' | 'torchIndex'>;

/** Returns an environment's folder, named after its content to share it between clones and test runs. */
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

/** Returns the stamp file of a layer, written once the layer is complete; it records what was installed. */
export function stampOf(dir: string, layer: Layer): string {
  return path.join(dir, `.bakehouse-${layer}`);
}

/**
 * SHA-256 of a lock file, to which callers add more data. Cached, because the queue calls this every second
 * for each waiting workload; an upgrade restarts the server.
 */
export async function hashOfLock(layer: Layer): Promise<Hash> {
  const known = lockHashes.get(layer);
  if (known) return known.copy();
  const hash = createHash('sha256').update(await readFile(path.join(runtimeDir, lockFiles[layer])));
  lockHashes.set(layer, hash);
  return hash.copy();
}

const lockHashes = new Map<Layer, Hash>();
