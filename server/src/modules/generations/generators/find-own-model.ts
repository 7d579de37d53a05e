import type { GeneratorName } from '@bakehouse/contract/generators';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import { findStarterModel } from '../../models/starter/find-starter-model.ts';
import type { StarterModelRef } from '../../models/starter/list-starter-models.ts';
import { ownModels } from './own-models.ts';

/** The model of this installation that serves the generator; undefined where there is none. */
export async function findOwnModel(
  db: Database | Transaction,
  generator: GeneratorName,
): Promise<StarterModelRef | undefined> {
  const name = ownModels[generator];
  return name === undefined ? undefined : findStarterModel(db, name);
}
