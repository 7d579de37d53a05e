import type { HeldOutAnswers } from '@bakehouse/contract/runtime/report';
import type { Database } from '../../../platform/db/database.ts';
import { selectHeldOutAnswers } from './queries.ts';

/** Returns both models' answers to held-out rows, by run; runs without answers are missing. */
export async function listHeldOutAnswers(
  db: Database,
  runIds: string[],
): Promise<Map<string, HeldOutAnswers>> {
  return selectHeldOutAnswers(db, runIds);
}
