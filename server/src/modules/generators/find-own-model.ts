import type { GeneratorName } from '@bakehouse/contract/generators';
import { KONTEXT_STARTER } from '@bakehouse/contract/kontext';
import { PARIS_MODEL } from '@bakehouse/contract/paris';
import type { Database, Transaction } from '../../platform/db/database.ts';
import { findStarterModel } from '../assets/starter/find-starter-model.ts';
import type { StarterModelRef } from '../assets/starter/list-starter-models.ts';

/** The models of an installation's own by which generators are served. */
const ownModels: Partial<Record<GeneratorName, string>> = {
  paris: PARIS_MODEL,
  'flux-kontext': KONTEXT_STARTER,
};

/** The model of this installation that serves the generator; undefined where there is none. */
export async function findOwnModel(
  db: Database | Transaction,
  generator: GeneratorName,
): Promise<StarterModelRef | undefined> {
  const name = ownModels[generator];
  return name === undefined ? undefined : findStarterModel(db, name);
}
