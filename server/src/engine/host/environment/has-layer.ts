import { readFile } from 'node:fs/promises';
import { type EnvironmentSettings, environmentDir, hashOfLock, stampOf } from './environment.ts';
import { environmentOf, type Layer } from './layers.ts';

/** Whether a layer has been installed to its end. */
export async function hasLayer(settings: EnvironmentSettings, layer: Layer): Promise<boolean> {
  const dir = await environmentDir(settings, environmentOf(layer));
  const installed = await readFile(stampOf(dir, layer), 'utf8').catch(() => '');
  return installed === (await hashOfLock(layer)).digest('hex');
}
