import type { RowPictures } from '@bakehouse/contract/data-files';
import { PICTURE_PIXELS_MAX } from '@bakehouse/contract/media';
import sharp from 'sharp';
import { loadTable, readRows } from '../../duckdb/load-table.ts';
import { openDatabase } from '../../duckdb/open-database.ts';
import { NAME_CHARS_MAX } from '../read-preview.ts';
import { cut } from '../table.ts';
import { Unreadable } from '../unreadable.ts';
import { bytesOf } from './picture-bytes.ts';

/** Of a thumbnail, on a screen of two pixels for each of its own. */
const SIDE_MAX = 128;

// Whatever else the library could read is no picture here.
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({ operation: ['VipsForeignLoadPng', 'VipsForeignLoadJpeg', 'VipsForeignLoadWebp'] });

/**
 * Thumbnails of the pictures in a column of a Parquet file, of the rows `offset` to `offset + limit`. Throws Unreadable as
 * the preview does, and for a column that is not there. The file is not trusted: run it with limits.
 */
export async function readPictures(file: {
  localPath: string;
  name: string;
  column: string;
  offset: number;
  limit: number;
}): Promise<RowPictures> {
  const database = await openDatabase([file.localPath]);
  const table = await loadTable(database, file);
  const at = table.columns.names.findIndex((name) => cut(name, NAME_CHARS_MAX) === file.column);
  if (at === -1) throw new Unreadable(`The file has no column '${file.column}'.`, { param: 'column' });
  const pictures: RowPictures['pictures'] = [];
  const broken: RowPictures['broken'] = [];
  for (const row of await readRows(database, table, file)) {
    const bytes = bytesOf(row.values[at]);
    try {
      pictures.push(bytes ? await toThumbnail(bytes) : null);
    } catch (error) {
      const [reason = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
      broken.push({ at: row.at, reason });
      pictures.push(null);
    }
  }
  return { pictures, broken };
}

/** As an address that holds the picture itself. */
async function toThumbnail(bytes: Uint8Array): Promise<string> {
  const webp = await sharp(bytes, { limitInputPixels: PICTURE_PIXELS_MAX, failOn: 'error' })
    .autoOrient()
    .resize({ width: SIDE_MAX, height: SIDE_MAX, fit: 'inside', withoutEnlargement: true })
    .webp({ quality: 75 })
    .toBuffer();
  return `data:image/webp;base64,${webp.toString('base64')}`;
}
