import type { Database, Transaction } from '../../../platform/db/database.ts';
import { listStarterModels, type StarterModelRef } from './starters.ts';

/** Returns the starter model with this name, if any. */
export async function findStarterModel(
  db: Database | Transaction,
  modelName: string,
): Promise<StarterModelRef | undefined> {
  return (await listStarterModels(db)).find((starter) => starter.modelName === modelName);
}
