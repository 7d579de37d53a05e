import { toFlatId } from '@bakehouse/contract/fields/flat-id';
import type { TrackerService } from '@bakehouse/contract/trackers';
import type { Database } from '../../../platform/db/database.ts';
import { selectJobs } from './job-queries.ts';

/** What a job has asked of a tracker: elsewhere than where its owner's runs are logged, and under which name. */
export type Integration = { project: string; entity: string | null; name: string; tags: string[] };

/** Where the job of a run wants to be logged in a service; null where it has not said, or the run is no job. */
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
