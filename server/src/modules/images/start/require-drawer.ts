import type { GeneratorName } from '@bakehouse/contract/generators';
import type { Generator } from '@bakehouse/contract/generators/generator';
import { withFields } from '@bakehouse/contract/generators/parameters/parameters';
import { generators } from '@bakehouse/contract/generators/table';
import type { Services } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { findOwnModel } from '../../generators/find-own-model.ts';
import { findUpstream, type Upstream } from '../../upstreams/find-upstream.ts';

/** Who draws for a generator, and what of its form counts there. */
export type Drawer = { model: string; form: Generator } & (
  | { provider: 'own' }
  | { provider: 'upstream'; upstream: Upstream }
);

/**
 * Who draws for the generator: the model that is named, which is one of this installation; else the installation's own,
 * for which nothing leaves it, before a service. Throws AppError 'conflict' where nobody does.
 */
export async function requireDrawer(
  { db, config }: Pick<Services, 'db' | 'config'>,
  { generator, model: named }: { generator: GeneratorName; model?: string | undefined },
): Promise<Drawer> {
  const form = generators[generator];
  if (named !== undefined) return { provider: 'own', model: named, form };
  const own = await findOwnModel(db, generator);
  if (own) return { provider: 'own', model: own.modelName, form };
  const upstream = findUpstream(config, generator);
  if (upstream) {
    const { model, fields } = upstream;
    return { provider: 'upstream', model, upstream, form: withFields(form, fields) };
  }
  throw new AppError('conflict', {
    publicMessage: `${form.title} is not served here. GET /api/v1/generators lists what is`,
    param: 'generator',
  });
}
