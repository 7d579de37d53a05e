import type { Machine } from '@bakehouse/contract/machines';
import type { Config } from '../../../config.ts';
import type { Database } from '../../../platform/db/database.ts';
import { preparationIds, preparationLabels } from './preparation-ids.ts';
import { selectPreparations } from './queries.ts';

type Parts = { config: Pick<Config, 'prepare'>; db: Database };

/**
 * The steps of the machine's preparation in their order. A server that prepares nothing lists only those that are
 * ready: what a killed one left under way is not continued.
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
