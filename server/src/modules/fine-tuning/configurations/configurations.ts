import type {
  Configuration,
  deleteConfiguration as deleteConfigurationEndpoint,
  listConfigurations as listConfigurationsEndpoint,
  renameConfiguration as renameConfigurationEndpoint,
  saveConfiguration as saveConfigurationEndpoint,
} from '@bakehouse/contract/configurations';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../../platform/context.ts';
import { type Database, type Transaction, toJson } from '../../../platform/db/database.ts';
import { conflict, notFound } from '../../../platform/errors.ts';
import { sqlStates } from '../../../platform/postgres/sql-states.ts';

/** Returns the caller's saved configurations, newest first. */
export async function listConfigurations(
  ctx: Context,
): Promise<ResponseOf<typeof listConfigurationsEndpoint>> {
  return { configurations: await selectConfigurations(ctx.db, ctx.caller.userId) };
}

/** Renames a saved configuration of the caller to an unused name. */
export async function renameConfiguration(
  ctx: Context,
  { params, body }: InputOf<typeof renameConfigurationEndpoint>,
): Promise<ResponseOf<typeof renameConfigurationEndpoint>> {
  const { config_name: name } = body;
  const renamed = await updateConfigurationName(ctx.db, {
    userId: ctx.caller.userId,
    id: params.configId,
    name,
  });
  if (renamed === null) throw notFound('Template');
  if (renamed === 'taken') {
    throw conflict(`Another template is called ${name}. Choose another name.`, { param: 'config_name' });
  }
  return renamed;
}

/** Saves a configuration; replaces one with the same name. */
export async function saveConfiguration(
  ctx: Context,
  { body }: InputOf<typeof saveConfigurationEndpoint>,
): Promise<ResponseOf<typeof saveConfigurationEndpoint>> {
  return upsertConfiguration(ctx.db, {
    userId: ctx.caller.userId,
    name: body.config_name,
    payload: body.fine_tune_payload,
    at: ctx.clock.now(),
  });
}

async function selectConfigurations(db: Database, userId: string): Promise<Configuration[]> {
  const rows = await db
    .selectFrom('training_configurations')
    .selectAll()
    .where('user_id', '=', userId)
    .orderBy('created_at', 'desc')
    .execute();
  return rows.map(toConfiguration);
}

async function upsertConfiguration(
  db: Database,
  configuration: { userId: string; name: string; payload: Configuration['fine_tune_payload']; at: Date },
): Promise<Configuration> {
  const columns = { payload: toJson(configuration.payload), created_at: configuration.at };
  const row = await db
    .insertInto('training_configurations')
    .values({ user_id: configuration.userId, name: configuration.name, ...columns })
    .onConflict((oc) => oc.columns(['user_id', 'name']).doUpdateSet(columns))
    .returningAll()
    .executeTakeFirstOrThrow();
  return toConfiguration(row);
}

/**
 * Renames a configuration. Returns null if the user has no such configuration, `'taken'` if the name is in
 * use.
 */
async function updateConfigurationName(
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
async function deleteConfigurationRow(db: Database, userId: string, id: string): Promise<boolean> {
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

async function deleteUserConfigurations(tx: Transaction, userId: string): Promise<void> {
  await tx.deleteFrom('training_configurations').where('user_id', '=', userId).execute();
}

/** Deletes a saved configuration of the caller. */
export async function deleteConfiguration(
  ctx: Context,
  { params }: InputOf<typeof deleteConfigurationEndpoint>,
): Promise<undefined> {
  if (!(await deleteConfigurationRow(ctx.db, ctx.caller.userId, params.configId))) {
    throw notFound('Template');
  }
}

/** Step: deletes the saved configurations of a deleted user. */
export async function deleteSavedConfigurations(tx: Transaction, userId: string): Promise<void> {
  await deleteUserConfigurations(tx, userId);
}
