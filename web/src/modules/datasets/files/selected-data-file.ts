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

const PICTURE = /\.(png|jpe?g|webp)$/i;

/** Returns true if one of the first files is a picture that has a thumbnail and can train an image model. */
export function hasPictures({ files }: Pick<FirstFiles, 'files'>): boolean {
  return files.some(({ path }) => PICTURE.test(path));
}

/**
 * Returns true if the dataset may contain data for a text model; its unlisted files only count if no picture
 * is listed. Captions of pictures are for image models.
 */
export function mayTrainText(asset: FirstFiles): boolean {
  if (!hasPictures(asset)) return mayHaveDataFiles(asset);
  const paths = asset.files.map(({ path }) => path);
  const captions = new Set(paths.filter((path) => PICTURE.test(path)).map(captionOf));
  return paths.some((path) => isDataFile(path) && path !== METADATA && !captions.has(path));
}

const captionOf = (picture: string): string => picture.replace(PICTURE, '.txt');

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
