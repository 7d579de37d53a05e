import type { AssetFile } from '@bakehouse/contract/assets';
import type { Database } from '../../../platform/db/database.ts';
import { unknownCursor } from '../../../platform/unknown-cursor.ts';
import { toWireFile } from '../to-wire.ts';
import { listFilesBelow } from './folder-queries.ts';

/** Returns files of the newest revision from the cursor, in path order, with the next cursor. */
export async function listFilesPage(
  db: Database,
  input: {
    assetId: string;
    path: string;
    prefix?: string | undefined;
    cursor?: string | undefined;
    limit: number;
  },
): Promise<{ files: AssetFile[]; nextCursor: string | null }> {
  const { assetId, path, prefix = '', cursor, limit } = input;
  const after = cursor ? parseCursor(cursor) : null;
  const rows = await listFilesBelow(db, assetId, { path, prefix, after, limit: limit + 1 });
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return {
    files: page.map(toWireFile),
    nextCursor: rows.length > page.length && last ? formatCursor(last.path) : null,
  };
}

/** Encodes a position in a list of paths for clients. */
export function formatCursor(path: string): string {
  return Buffer.from(JSON.stringify(path)).toString('base64url');
}

/** Decodes a position. Throws AppError 'invalid_request' if it is invalid. */
export function parseCursor(cursor: string): string {
  try {
    const path: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    if (typeof path === 'string' && !path.includes('\0')) return path;
  } catch {
    // Rejected below.
  }
  throw unknownCursor();
}
