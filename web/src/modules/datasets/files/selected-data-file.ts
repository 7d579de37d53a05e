import type { Asset } from '@bakehouse/contract/assets';
import { METADATA } from '@bakehouse/contract/gallery';
import { hasRows, isDataFile } from './data-file.ts';

type FirstFiles = Pick<Asset, 'files' | 'next_files_cursor'>;

/** False if no file can be trained on; true if an unlisted one might be. */
export function mayHaveDataFiles({ files, next_files_cursor: more }: FirstFiles): boolean {
  return more !== null || files.some(({ path }) => isDataFile(path));
}

/** The same for files with rows to display. */
export function mayHaveRows({ files, next_files_cursor: more }: FirstFiles): boolean {
  return more !== null || files.some(({ path }) => hasRows(path));
}

/**
 * Returns true if a text model may be trained on it; captioned pictures are for image models. If the listed
 * files are pictures without captions, an unlisted file may have rows.
 */
export function mayTrainText(asset: FirstFiles): boolean {
  const paths = asset.files.map(({ path }) => path);
  if (paths.some((path) => isDataFile(path) && path !== METADATA)) return true;
  const hasPictures = paths.some((path) => /\.(png|jpe?g|webp)$/i.test(path));
  if (!hasPictures) return mayHaveDataFiles(asset);
  return asset.next_files_cursor !== null && !paths.includes(METADATA);
}

/**
 * Returns the file whose rows are displayed: the named one, which may be unlisted, otherwise the first with
 * rows.
 */
export function selectedDataFile(
  { files, next_files_cursor: more }: FirstFiles,
  path: string | undefined,
): string | undefined {
  const listed = files.map((file) => file.path).filter(hasRows);
  const isThere = path !== undefined && hasRows(path) && (more !== null || listed.includes(path));
  return isThere ? path : listed[0];
}

/** Returns the same file if training reads it. */
export function fileToTrainOn(asset: FirstFiles, path: string | undefined): string | undefined {
  const selected = selectedDataFile(asset, path);
  return selected !== undefined && isDataFile(selected) ? selected : undefined;
}
