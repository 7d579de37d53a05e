import type { RowPictures } from '@bakehouse/contract/data-files';
import { type DataFile, loadTable, openDataFile, readRows } from '../../duckdb/load-table.ts';
import { NAME_CHARS_MAX } from '../read-preview.ts';
import { cut, Unreadable } from '../table.ts';
import { faultOf, toThumbnail } from './to-thumbnail.ts';

/** Magic bytes of PNG, JPEG and WebP. */
const BEGINNINGS = ['\x89PNG\r\n', '\xff\xd8\xff', 'RIFF'];

/**
 * Returns thumbnails of the pictures in a Parquet column, for the rows `offset` to `offset + limit`. Throws
 * Unreadable like the preview, and for an unknown column. The file is untrusted: run this with limits.
 */
export async function readPictures(
  file: DataFile & { column: string; offset: number; limit: number },
): Promise<RowPictures> {
  const database = await openDataFile(file);
  const table = await loadTable(database, file);
  const at = table.columns.names.findIndex((name) => cut(name, NAME_CHARS_MAX) === file.column);
  if (at === -1) throw new Unreadable(`The file has no column '${file.column}'.`, { param: 'column' });
  const pictures: RowPictures['pictures'] = [];
  const broken: RowPictures['broken'] = [];
  for (const row of await readRows(database, table, file)) {
    const bytes = bytesOf(row.values[at]);
    try {
      pictures.push(bytes ? (await toThumbnail(bytes)).thumbnail : null);
    } catch (error) {
      broken.push({ at: row.at, reason: faultOf(error) });
      pictures.push(null);
    }
  }
  return { pictures, broken };
}

/**
 * Returns the bytes of a picture cell: the cell itself, or its field `bytes`, as the Python library
 * `datasets` writes it.
 */
function bytesOf(value: unknown): Uint8Array | null {
  if (value instanceof Uint8Array) return value;
  const { bytes }: { bytes?: unknown } = Object(value);
  return bytes instanceof Uint8Array ? bytes : null;
}

/** True if the cell holds a picture, by its magic bytes. */
export function isPicture(value: unknown): boolean {
  const begin = Buffer.from(bytesOf(value)?.subarray(0, 8) ?? []).toString('latin1');
  return BEGINNINGS.some((magic) => begin.startsWith(magic));
}
