import type { cell, previewFile as endpoint } from '@bakehouse/contract/assets';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type * as z from 'zod';
import type { Context } from '../../../platform/context.ts';
import { toJson } from '../../../platform/db/database.ts';
import { AppError } from '../../../platform/errors.ts';
import { findReadableAsset } from '../find-asset.ts';
import { type FileRow, findNewestFile } from '../queries.ts';
import { decodeText } from './decode-text.ts';
import { readCsv } from './read-csv.ts';
import { readJson, readJsonLines } from './read-json.ts';
import { readParquet } from './read-parquet.ts';
import { readText } from './read-text.ts';
import { isBroken, type Row, type Table } from './table.ts';

/** Files up to this size are read to their end, so that rows and broken rows are counted. */
const COUNT_BYTES_MAX = 16 * 1024 * 1024;
const BROKEN_MAX = 100;
const CELL_CHARS_MAX = 2_000;

type Preview = ResponseOf<typeof endpoint>;
type Page = { offset: number; limit: number };

/**
 * Some rows of a data file, read as training reads it; only as much of the file as that takes.
 * Throws AppError('invalid_request') for other kinds of file and for what is not UTF-8.
 */
export async function previewFile(
  ctx: Context,
  input: { assetId: string; path: string } & Page,
): Promise<Preview> {
  const asset = await findReadableAsset(ctx.db, { assetId: input.assetId, userId: ctx.caller.userId });
  const file = await findNewestFile(ctx.db, asset.id, input.path);
  if (!file)
    throw new AppError('not_found', { publicMessage: `There is no file ${input.path}`, param: 'path' });
  if (endingOf(file.path) === 'parquet') {
    const { totalRows, ...table } = await readParquet(
      await ctx.blobs.localPath(file.sha256),
      file.path,
      input,
    );
    const page = await readPage(table, { offset: 0, limit: input.limit }, true);
    return { ...page, total_rows: totalRows };
  }
  return readPage(await openTextTable(ctx, file), input, file.size_bytes <= COUNT_BYTES_MAX);
}

async function openTextTable(ctx: Context, file: FileRow): Promise<Table> {
  const chunks = async () => decodeText(await ctx.blobs.read(file.sha256), file.path);
  switch (endingOf(file.path)) {
    case 'csv':
      return readCsv(await chunks(), file.path);
    case 'jsonl':
      return readJsonLines(await chunks());
    case 'json':
      return readJson(await chunks());
    case 'txt':
      return readText(await chunks());
    default:
      throw new AppError('invalid_request', {
        publicMessage: 'Rows can be shown of csv, jsonl, json, txt and parquet files',
        param: 'path',
      });
  }
}

/** Collects one page; goes on to the end of the table only to count. */
async function readPage(table: Table, page: Page, toTheEnd: boolean): Promise<Preview> {
  const picked: Row[] = [];
  const broken: Preview['broken'] = [];
  let count = 0;
  let isCounted = true;
  for await (const item of table.rows) {
    if (isBroken(item)) {
      if (broken.length < BROKEN_MAX) broken.push(item);
      continue;
    }
    if (count >= page.offset && picked.length < page.limit) picked.push(item);
    count += 1;
    if (!toTheEnd && picked.length === page.limit) {
      isCounted = false;
      break;
    }
  }
  const rows = picked.map(({ values }) => table.columns.map((column) => toCell(values[column])));
  return { columns: table.columns, rows, total_rows: isCounted ? count : null, broken };
}

function toCell(value: unknown): z.infer<typeof cell> {
  if (value === null || value === undefined) return null;
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (typeof value === 'bigint')
    return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString();
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  const text = typeof value === 'string' ? value : toJson(value);
  return text.length > CELL_CHARS_MAX ? `${text.slice(0, CELL_CHARS_MAX)}…` : text;
}

function endingOf(path: string): string {
  return path.split('.').at(-1)?.toLowerCase() ?? '';
}
