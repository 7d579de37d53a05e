import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { endpointUrl } from '@bakehouse/contract/endpoint-url';
import { type listGenerators as endpoint, generatorNames } from '@bakehouse/contract/generators';
import { generators as table } from '@bakehouse/contract/generators/table';
import { starterAddress } from '@bakehouse/contract/kontext';
import type { Services } from '../../platform/context.ts';
import { findOwnModel } from './find-own-model.ts';

/** Every generator, and who draws for it here. */
export async function listGenerators({
  db,
  config,
}: Pick<Services, 'db' | 'config'>): Promise<ResponseOf<typeof endpoint>> {
  const generators = generatorNames.map(async (name) => {
    const own = await findOwnModel(db, name);
    const edits = table[name].fields.some(({ kind }) => kind === 'picture');
    return {
      name,
      served_by: own ? ['own' as const] : [],
      inference_url:
        own && edits
          ? new URL(endpointUrl(starterAddress, { model: own.modelName }), config.publicUrl).href
          : null,
    };
  });
  return { generators: await Promise.all(generators) };
}
