import { readdir } from 'node:fs/promises';
import path from 'node:path';
import type { StarterFile } from './starter-model.ts';

const MODELS = path.resolve(import.meta.dirname, '../../../../../models');

/** Bundled starter image models, by their folders. */
export const imageStarters = {
  paris: 'starter-paris',
  kontext: 'starter-kontext',
  wan: 'starter-wan',
} as const;
export type ImageStarter = keyof typeof imageStarters;

/** Returns the files of a starter image model. */
export async function listImageStarter(name: ImageStarter): Promise<StarterFile[]> {
  const folder = path.join(MODELS, imageStarters[name]);
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .map((localPath) => ({ localPath, path: path.relative(folder, localPath).split(path.sep).join('/') }));
}
