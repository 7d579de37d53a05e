import type { Asset } from '@bakehouse/contract/assets';
import { METADATA } from '@bakehouse/contract/gallery';
import { hasRows, isDataFile } from './data-file.ts';

type FirstFiles = Pick<Asset, 'files' | 'next_files_cursor'>;

/** False where no file can be trained on; true also where one may be among those behind the first. */
export function mayHaveDataFiles({ files, next_files_cursor: more }: FirstFiles): boolean {
  return more !== null || files.some(({ path }) => isDataFile(path));
}

/** The same of files whose rows can be shown. */
export function mayHaveRows({ files, next_files_cursor: more }: FirstFiles): boolean {
  return more !== null || files.some(({ path }) => hasRows(path));
}

/**
 * Whether a text model may be trained on it: pictures with their captions are for image models. Where the first files are
 * pictures without captions, one with rows may be among those behind them.
 */
export function mayTrainText(asset: FirstFiles): boolean {
  const paths = asset.files.map(({ path }) => path);
  if (paths.some((path) => isDataFile(path) && path !== METADATA)) return true;
  const hasPictures = paths.some((path) => /\.(png|jpe?g|webp)$/i.test(path));
  if (!hasPictures) return mayHaveDataFiles(asset);
  return asset.next_files_cursor !== null && !paths.includes(METADATA);
}

/** Path of the file whose rows are looked at: the named one, which may be behind the first ones, else the first with rows. */
export function selectedDataFile(
  { files, next_files_cursor: more }: FirstFiles,
  path: string | undefined,
): string | undefined {
  const listed = files.map((file) => file.path).filter(hasRows);
  const isThere = path !== undefined && hasRows(path) && (more !== null || listed.includes(path));
  return isThere ? path : listed[0];
}

/** The same file, if training reads it. */
export function fileToTrainOn(asset: FirstFiles, path: string | undefined): string | undefined {
  const selected = selectedDataFile(asset, path);
  return selected !== undefined && isDataFile(selected) ? selected : undefined;
}
