import { readdir } from 'node:fs/promises';
import path from 'node:path';
import type { StarterFile } from './starter-model.ts';

const FOLDER = path.resolve(import.meta.dirname, '../../../../../models/starter-paris');

/** The files of the starter image model, which come with the program. */
export async function listImageStarter(): Promise<StarterFile[]> {
  const entries = await readdir(FOLDER, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .map((localPath) => ({ localPath, path: path.relative(FOLDER, localPath).split(path.sep).join('/') }));
}
