import type { Asset } from '@bakehouse/contract/assets';
import { METADATA } from '@bakehouse/contract/gallery';
import { hasRows, isDataFile } from './data-file.ts';

type FirstFiles = Pick<Asset, 'files' | 'next_files_cursor'>;

/** Returns false if no file can be used for training; true also if there are unlisted files. */
export function mayHaveDataFiles({ files, next_files_cursor: more }: FirstFiles): boolean {
  return more !== null || files.some(({ path }) => isDataFile(path));
}

/** Returns false if no file has rows to display; true also if there are unlisted files. */
export function mayHaveRows({ files, next_files_cursor: more }: FirstFiles): boolean {
  return more !== null || files.some(({ path }) => hasRows(path));
}

/**
 * Returns true if the dataset may contain data for a text model. Captioned pictures are for image models.
 * If only pictures without captions are listed, an unlisted file may still have rows.
 */
export function mayTrainText(asset: FirstFiles): boolean {
  const paths = asset.files.map(({ path }) => path);
  if (paths.some((path) => isDataFile(path) && path !== METADATA)) return true;
  const hasPictures = paths.some((path) => /\.(png|jpe?g|webp)$/i.test(path));
  if (!hasPictures) return mayHaveDataFiles(asset);
  return asset.next_files_cursor !== null && !paths.includes(METADATA);
}

/** Returns the file to display: `path`, even if it is unlisted, otherwise the first file with rows. */
export function selectedDataFile(
  { files, next_files_cursor: more }: FirstFiles,
  path: string | undefined,
): string | undefined {
  const listed = files.map((file) => file.path).filter(hasRows);
  const isThere = path !== undefined && hasRows(path) && (more !== null || listed.includes(path));
  return isThere ? path : listed[0];
}

/** Returns the result of `selectedDataFile`, but only if it can be used for training. */
export function fileToTrainOn(asset: FirstFiles, path: string | undefined): string | undefined {
  const selected = selectedDataFile(asset, path);
  return selected !== undefined && isDataFile(selected) ? selected : undefined;
}
