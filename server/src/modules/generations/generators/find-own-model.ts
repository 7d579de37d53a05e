import type { GeneratorName } from '@bakehouse/contract/generators';
import { starterFor } from '@bakehouse/contract/generators/stand-in';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import { findStarterModel } from '../../models/starter/find-starter-model.ts';
import type { StarterModelRef } from '../../models/starter/list-starter-models.ts';

/** The starter model that serves the generator, or stands in where it has none; undefined while that is not there. */
export async function findOwnModel(
  db: Database | Transaction,
  generator: GeneratorName,
): Promise<StarterModelRef | undefined> {
  return findStarterModel(db, starterFor(generator).starter.model);
}
