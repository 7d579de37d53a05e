import type { Database, Transaction } from '../../../platform/db/database.ts';
import { listStarterModels, type StarterModelRef } from './list-starter-models.ts';

/** The starter model of that name; undefined where there is none. */
export async function findStarterModel(
  db: Database | Transaction,
  modelName: string,
): Promise<StarterModelRef | undefined> {
  return (await listStarterModels(db)).find((starter) => starter.modelName === modelName);
}
