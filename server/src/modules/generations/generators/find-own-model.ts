import type { GeneratorName } from '@bakehouse/contract/generators';
import { starterFor } from '@bakehouse/contract/generators/stand-in';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import { findStarterModel } from '../../models/starter/find-starter-model.ts';
import type { StarterModelRef } from '../../models/starter/list-starter-models.ts';

/**
 * Returns the starter model that serves the generator or substitutes for it; undefined if it is not
 * available.
 */
export async function findOwnModel(
  db: Database | Transaction,
  generator: GeneratorName,
): Promise<StarterModelRef | undefined> {
  return findStarterModel(db, starterFor(generator).starter.model);
}
