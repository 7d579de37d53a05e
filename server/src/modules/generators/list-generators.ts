import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { type listGenerators as endpoint, generatorNames } from '@bakehouse/contract/generators';
import type { Services } from '../../platform/context.ts';
import { findOwnModel } from './find-own-model.ts';

/** Every generator, and who draws for it here. */
export async function listGenerators({ db }: Pick<Services, 'db'>): Promise<ResponseOf<typeof endpoint>> {
  const generators = generatorNames.map(async (name) => ({
    name,
    served_by: (await findOwnModel(db, name)) ? ['own' as const] : [],
  }));
  return { generators: await Promise.all(generators) };
}
