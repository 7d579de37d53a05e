import type { Machine } from '@bakehouse/contract/machines';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import type { PreparationId } from './preparation-ids.ts';

type Preparation = Machine['preparations'][number];

export async function selectPreparations(db: Database) {
  return db.selectFrom('preparations').selectAll().execute();
}

export async function findPreparation(db: Database, id: PreparationId) {
  return db.selectFrom('preparations').selectAll().where('id', '=', id).executeTakeFirst();
}

/** Keeps the stored fingerprint if `fingerprint` is undefined. */
export async function upsertPreparation(
  tx: Transaction,
  row: Omit<Preparation, 'label'> & { fingerprint?: string; updated_at: Date },
): Promise<void> {
  const { id: _id, ...changed } = row;
  await tx
    .insertInto('preparations')
    .values(row)
    .onConflict((conflict) => conflict.column('id').doUpdateSet(changed))
    .execute();
}
