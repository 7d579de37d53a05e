import type { GeneratorName } from '@bakehouse/contract/generators';
import type { Generator } from '@bakehouse/contract/generators/generator';
import { atDeployment, atService } from '@bakehouse/contract/generators/parameters/parameters';
import { generators } from '@bakehouse/contract/generators/table';
import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { findActiveKontext } from '../../deployments/images/find-active-kontext.ts';
import { findImageServer } from '../../deployments/images/find-image-server.ts';
import { findUpstreams, type Upstream } from '../../providers/find-upstreams.ts';
import type { ServiceName } from '../../providers/services/services.ts';
import { findOwnModel } from '../generators/find-own-model.ts';

/** Where a generation waits: each of these has so many places, whoever waits for another. */
export type GenerationQueue = `starter:${string}` | `deployment:${string}` | `upstream:${ServiceName}`;

/** The provider of a generator, and what of its form counts there. */
export type ChosenProvider = { model: string; queue: GenerationQueue; form: Generator } & (
  | { provider: 'own' }
  | { provider: 'upstream'; upstream: Upstream }
);

/** What a call asks for, and of which provider, where it says so. */
type Wanted = { generator: GeneratorName; model?: string | undefined; service?: string | undefined };

/**
 * Who serves the generator: the model that is named, which is a model of this installation, or the service;
 * else, of edits, the caller's own active deployment; else the first service, which makes larger pictures than a starter;
 * else the starter. Throws AppError 'not_found' for a service that does not, and 'conflict' where nobody does.
 */
export async function chooseProvider(
  ctx: Context,
  { generator, model: named, service }: Wanted,
): Promise<ChosenProvider> {
  const form = generators[generator];
  const upstreams = findUpstreams(ctx.config, generator);
  if (service !== undefined) {
    const upstream = upstreams.find(({ title }) => title === service);
    if (upstream) return byService(form, upstream);
    throw notServedBy(service, upstreams);
  }
  const deployed = named ?? (generator === 'flux-kontext' ? await findActiveKontext(ctx) : null);
  if (deployed !== null) {
    const queue = await queueOf(ctx, deployed);
    return { provider: 'own', model: deployed, queue, form: atDeployment(form) };
  }
  const [first] = upstreams;
  if (first) return byService(form, first);
  const own = await findOwnModel(ctx.db, generator);
  if (own) return { provider: 'own', model: own.modelName, queue: `starter:${own.modelName}`, form };
  throw new AppError('conflict', {
    publicMessage: `${form.title} is not served here. GET /api/v1/generators lists what is`,
    param: 'generator',
  });
}

function byService(form: Generator, upstream: Upstream): ChosenProvider {
  const { model, fields } = upstream;
  return {
    provider: 'upstream',
    model,
    queue: `upstream:${upstream.service}`,
    upstream,
    form: atService(form, fields),
  };
}

function notServedBy(service: string, upstreams: readonly Upstream[]): AppError {
  const known = upstreams.map(({ title }) => `'${title}'`).join(', ');
  return new AppError('not_found', {
    publicMessage: `No service '${service}' serves this here. ${known ? `service must be one of ${known}` : 'None does'}`,
    param: 'service',
  });
}

async function queueOf(ctx: Context, modelName: string): Promise<GenerationQueue> {
  const server = await findImageServer(ctx, modelName);
  return 'podId' in server ? `deployment:${server.podId}` : `starter:${server.starter}`;
}
