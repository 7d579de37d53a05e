import { readFile } from 'node:fs/promises';
import { type EnvironmentSettings, environmentDir, hashOfLock, stampOf } from './environment.ts';
import { environmentOf, environments, type Layer } from './layers.ts';

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
