import type { HeldOutAnswers } from '@bakehouse/contract/runtime/report';
import type { Database } from '../../../platform/db/database.ts';
import { selectHeldOutAnswers } from './queries.ts';

/** What both models said to held-out rows, by run; runs of which nobody asked them are missing. */
export async function listHeldOutAnswers(
  db: Database,
  runIds: string[],
): Promise<Map<string, HeldOutAnswers>> {
  return selectHeldOutAnswers(db, runIds);
}
