import type { GeneratorName } from '@bakehouse/contract/generators';
import { generators } from '@bakehouse/contract/generators/table';
import type { Services } from '../../platform/context.ts';
import { AppError } from '../../platform/errors.ts';
import type { StarterModelRef } from '../assets/starter/list-starter-models.ts';
import { findOwnModel } from '../generators/find-own-model.ts';

/** The model that draws for the generator. Throws AppError 'conflict' where there is none. */
export async function requireOwnModel(
  { db }: Pick<Services, 'db'>,
  generator: GeneratorName,
): Promise<StarterModelRef> {
  const model = await findOwnModel(db, generator);
  if (model) return model;
  throw new AppError('conflict', {
    publicMessage: `${generators[generator].title} is not served here. GET /api/v1/generators lists what is`,
    param: 'generator',
  });
}
