import type { Machine } from '@bakehouse/contract/machines';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import type { PreparationId } from './preparation-ids.ts';

type Preparation = Machine['preparations'][number];

/** The steps of a machine. */
export async function selectPreparations(db: Database, machineId: string) {
  return db.selectFrom('preparations').selectAll().where('machine_id', '=', machineId).execute();
}

export async function findPreparation(db: Database, machineId: string, id: PreparationId) {
  return db
    .selectFrom('preparations')
    .selectAll()
    .where('machine_id', '=', machineId)
    .where('id', '=', id)
    .executeTakeFirst();
}

/** `fingerprint` stays as it is unless it is given. */
export async function upsertPreparation(
  tx: Transaction,
  row: Omit<Preparation, 'label'> & { machine_id: string; fingerprint?: string; updated_at: Date },
): Promise<void> {
  const { id: _id, machine_id: _machine, ...changed } = row;
  await tx
    .insertInto('preparations')
    .values(row)
    .onConflict((conflict) => conflict.columns(['machine_id', 'id']).doUpdateSet(changed))
    .execute();
}
