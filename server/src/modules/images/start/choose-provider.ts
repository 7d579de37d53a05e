import type { GeneratorName } from '@bakehouse/contract/generators';
import type { Generator } from '@bakehouse/contract/generators/generator';
import { atService, deployedFields, withFields } from '@bakehouse/contract/generators/parameters/parameters';
import { generators } from '@bakehouse/contract/generators/table';
import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { findActiveKontext } from '../../deployments/pictures/find-active-kontext.ts';
import { findImageServer } from '../../deployments/pictures/find-image-server.ts';
import { findOwnModel } from '../../generators/find-own-model.ts';
import { findUpstream, type Upstream } from '../../upstreams/find-upstream.ts';

/** Where a generation waits: each of these has so many places, whoever waits for another. */
export type DrawingLine = `starter:${string}` | `deployment:${string}` | 'upstream';

/** Who draws for a generator, and what of its form counts there. */
export type ChosenProvider = { model: string; line: DrawingLine; form: Generator } & (
  | { provider: 'own' }
  | { provider: 'upstream'; upstream: Upstream }
);

/**
 * Who draws for the generator: the model that is named, which is a FLUX or Kontext model of this installation; else, of
 * edits, the caller's own active deployment; else the installation's own, for which nothing leaves it, before a service.
 * Throws AppError 'conflict' where nobody does.
 */
export async function chooseProvider(
  ctx: Context,
  { generator, model: named }: { generator: GeneratorName; model?: string | undefined },
): Promise<ChosenProvider> {
  const form = generators[generator];
  const deployed = named ?? (generator === 'flux-kontext' ? await findActiveKontext(ctx) : null);
  if (deployed !== null) {
    const line = await lineOf(ctx, deployed);
    return { provider: 'own', model: deployed, line, form: withFields(form, ['image', ...deployedFields]) };
  }
  const own = await findOwnModel(ctx.db, generator);
  if (own) return { provider: 'own', model: own.modelName, line: `starter:${own.modelName}`, form };
  const upstream = findUpstream(ctx.config, generator);
  if (upstream) {
    const { model, fields } = upstream;
    return { provider: 'upstream', model, line: 'upstream', upstream, form: atService(form, fields) };
  }
  throw new AppError('conflict', {
    publicMessage: `${form.title} is not served here. GET /api/v1/generators lists what is`,
    param: 'generator',
  });
}

async function lineOf(ctx: Context, modelName: string): Promise<DrawingLine> {
  const server = await findImageServer(ctx, modelName);
  return 'podId' in server ? `deployment:${server.podId}` : `starter:${server.starter}`;
}
