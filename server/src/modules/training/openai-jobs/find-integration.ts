import { toFlatId } from '@bakehouse/contract/fields/flat-id';
import type { TrackerService } from '@bakehouse/contract/trackers';
import type { Database } from '../../../platform/db/database.ts';
import { selectJobs } from './job-queries.ts';

/** A job's tracker settings, which override the owner's defaults. */
export type Integration = { project: string; entity: string | null; name: string; tags: string[] };

/** Returns a run's tracker settings for a service; null if it has none or is not a job. */
export async function findIntegration(
  db: Database,
  { runId, service }: { runId: string; service: TrackerService },
): Promise<Integration | null> {
  const job = (await selectJobs(db, [runId])).get(runId);
  const asked = job?.integrations.find(({ type }) => type === service)?.wandb;
  if (!asked) return null;
  const { project, entity = null, name, tags } = asked;
  return { project, entity, name: name || toFlatId('ftjob-', runId), tags: tags ?? [] };
}
