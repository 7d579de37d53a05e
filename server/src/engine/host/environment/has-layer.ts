import { readFile } from 'node:fs/promises';
import { type EnvironmentSettings, environmentDir, hashOfLock, stampOf } from './environment.ts';
import { environmentOf, environments, type Layer } from './layers.ts';

/** Whether a layer, or one above it that holds it, has been installed to its end. */
export async function hasLayer(settings: EnvironmentSettings, layer: Layer): Promise<boolean> {
  const dir = await environmentDir(settings, environmentOf(layer));
  const layers: readonly Layer[] = environments[environmentOf(layer)];
  for (const one of layers.slice(layers.indexOf(layer))) {
    const installed = await readFile(stampOf(dir, one), 'utf8').catch(() => '');
    if (installed === (await hashOfLock(one)).digest('hex')) return true;
  }
  return false;
}
