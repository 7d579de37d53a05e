import type { GeneratorName } from '@bakehouse/contract/generators';
import { generators } from '@bakehouse/contract/generators/table';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import { findStarterModel } from '../../models/starter/find-starter-model.ts';
import type { StarterModelRef } from '../../models/starter/list-starter-models.ts';

/** The model of this installation that serves the generator; undefined where there is none. */
export async function findOwnModel(
  db: Database | Transaction,
  generator: GeneratorName,
): Promise<StarterModelRef | undefined> {
  const name = generators[generator].starter?.model;
  return name === undefined ? undefined : findStarterModel(db, name);
}
