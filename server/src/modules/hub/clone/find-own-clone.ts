import type { Database, Transaction } from '../../../platform/db/database.ts';
import { AppError } from '../../../platform/errors.ts';
import type { CloneRow } from './clones-table.ts';
import { findClone, lockClone } from './queries.ts';

type Own = { id: string; userId: string };

/** Returns the user's clone. Throws AppError 'not_found'. */
export async function findOwnClone(db: Database, own: Own): Promise<CloneRow> {
  return orNotFound(await findClone(db, own));
}

/** Locks and returns the user's clone. Throws AppError 'not_found'. */
export async function lockOwnClone(tx: Transaction, own: Own): Promise<CloneRow> {
  return orNotFound(await lockClone(tx, own));
}

function orNotFound(row: CloneRow | undefined): CloneRow {
  if (!row) throw new AppError('not_found', { publicMessage: 'No clone has this id' });
  return row;
}
