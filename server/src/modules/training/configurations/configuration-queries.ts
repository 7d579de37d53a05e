import type { Configuration } from '@bakehouse/contract/configurations';
import { type Database, type Transaction, toJson } from '../../../platform/db/database.ts';
import { sqlStates } from '../../../platform/postgres/sql-states.ts';

export async function selectConfigurations(db: Database, userId: string): Promise<Configuration[]> {
  const rows = await db
    .selectFrom('training_configurations')
    .selectAll()
    .where('user_id', '=', userId)
    .orderBy('created_at', 'desc')
    .execute();
  return rows.map(toConfiguration);
}

export async function upsertConfiguration(
  db: Database,
  configuration: { userId: string; name: string; payload: Configuration['fine_tune_payload']; at: Date },
): Promise<Configuration> {
  const columns = { payload: toJson(configuration.payload), created_at: configuration.at };
  const row = await db
    .insertInto('training_configurations')
    .values({ user_id: configuration.userId, name: configuration.name, ...columns })
    .onConflict((conflict) => conflict.columns(['user_id', 'name']).doUpdateSet(columns))
    .returningAll()
    .executeTakeFirstOrThrow();
  return toConfiguration(row);
}

/** Returns null if the user has no such configuration, `'taken'` if the name is in use. */
export async function updateConfigurationName(
  db: Database,
  { userId, id, name }: { userId: string; id: string; name: string },
): Promise<Configuration | 'taken' | null> {
  try {
    const row = await db
      .updateTable('training_configurations')
      .set({ name })
      .where('user_id', '=', userId)
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirst();
    return row ? toConfiguration(row) : null;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === sqlStates.uniqueViolation) return 'taken';
    throw error;
  }
}

/** Returns false if the user has no such configuration. */
export async function deleteConfigurationRow(db: Database, userId: string, id: string): Promise<boolean> {
  const deleted = await db
    .deleteFrom('training_configurations')
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirst();
  return deleted !== undefined;
}

function toConfiguration(row: {
  id: string;
  name: string;
  payload: unknown;
  created_at: Date;
}): Configuration {
  const payload = row.payload as Configuration['fine_tune_payload'];
  return {
    config_id: row.id,
    config_name: row.name,
    fine_tune_payload: payload,
    isSelectedGpu: payload.accelerator_type != null,
    hfModelId: payload.hf_model_id ?? null,
    created_at: row.created_at.toISOString(),
  };
}

export async function deleteUserConfigurations(tx: Transaction, userId: string): Promise<void> {
  await tx.deleteFrom('training_configurations').where('user_id', '=', userId).execute();
}
