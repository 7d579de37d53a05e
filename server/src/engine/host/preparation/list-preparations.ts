import type { Machine } from '@bakehouse/contract/machines';
import type { Config } from '../../../config.ts';
import type { Database } from '../../../platform/db/database.ts';
import { preparationIds, preparationLabels } from './preparation-ids.ts';
import { selectPreparations } from './queries.ts';

type Parts = { config: Pick<Config, 'prepare'>; db: Database };

/**
 * Returns the machine's preparation steps in order. A server that prepares nothing lists only completed
 * steps: it does not continue steps of a killed server.
 */
export async function listPreparations(
  { config, db }: Parts,
  { hasGpus }: { hasGpus: boolean },
): Promise<Machine['preparations']> {
  const rows = new Map((await selectPreparations(db)).map((row) => [row.id, row]));
  const preparations = preparationIds({ hasGpus }).map((id) => {
    const row = rows.get(id);
    return {
      id,
      label: preparationLabels[id],
      state: row?.state ?? 'waiting',
      detail: row?.detail ?? '',
      progress: row?.progress ?? null,
    };
  });
  return preparations.filter(({ state }) => config.prepare || state === 'ready');
}
