import type { ImageDeploymentKind } from '@bakehouse/contract/deployments/images';
import type { GeneratorName } from '@bakehouse/contract/generators';
import type { Generator } from '@bakehouse/contract/generators/generator';
import {
  formOfDeployment,
  formOfService,
  formOfStarter,
} from '@bakehouse/contract/generators/parameters/parameters';
import { formOfSubstitute, starterFor } from '@bakehouse/contract/generators/stand-in';
import { generators } from '@bakehouse/contract/generators/table';
import type { Context } from '../../../platform/context.ts';
import { type AppError, conflict, notFoundError } from '../../../platform/errors.ts';
import { findActiveDeployment, findImageServer } from '../../deployments/images/image-deployments.ts';
import { findUpstreams, type Upstream } from '../../providers/find-upstreams.ts';
import type { ServiceName } from '../../providers/services/services.ts';
import { findServingStarter } from '../generators/generators.ts';
import { deploymentsFor } from '../generators/local-generators.ts';

/** The queue in which a generation waits. Each queue has its own number of slots. */
export type GenerationQueue = `starter:${string}` | `deployment:${string}` | `upstream:${ServiceName}`;

/** The provider of a generator, and the part of the generator's form that it supports. */
export type ChosenProvider = { model: string; queue: GenerationQueue; form: Generator } & (
  | { provider: 'own' }
  | { provider: 'upstream'; upstream: Upstream }
);

/** A requested generator, optionally with a provider. */
type Wanted = { generator: GeneratorName; model?: string | undefined; service?: string | undefined };

/** Kinds of deployments that are preferred to any service, if the caller has one running. */
const deployedFirst: Partial<Record<GeneratorName, ImageDeploymentKind>> = {
  'flux-kontext': 'flux-kontext',
  wan: 'wan',
};

/**
 * Chooses the provider in this order:
 * 1. the model or service that the request names;
 * 2. for edits and Wan, the caller's running deployment;
 * 3. the first service, because its pictures are larger than a starter's;
 * 4. the caller's deployment, if the generator has no starter of its own;
 * 5. the starter, or a starter that substitutes for it.
 * Throws AppError 'not_found' for a service that does not serve the generator, and 'conflict' if there is no
 * provider.
 */
export async function chooseProvider(
  ctx: Context,
  { generator, model: named, service }: Wanted,
): Promise<ChosenProvider> {
  const form: Generator = generators[generator];
  const upstreams = findUpstreams(ctx.config, generator);
  if (service !== undefined) {
    const upstream = upstreams.find(({ title }) => title === service);
    if (upstream) return byService(form, upstream);
    throw notServedBy(service, upstreams);
  }
  const kind = deployedFirst[generator];
  const deployed = named ?? (kind ? await findActiveDeployment(ctx, kind) : null);
  if (deployed !== null) return byDeployment(ctx, generator, deployed);
  const [first] = upstreams;
  if (first) return byService(form, first);
  for (const standIn of form.starter ? [] : deploymentsFor(generator)) {
    const active = await findActiveDeployment(ctx, standIn);
    if (active !== null) return byDeployment(ctx, generator, active);
  }
  const own = await findServingStarter(ctx.db, generator);
  if (own) return byStarter(generator, own.modelName, own.modelName);
  throw conflict(`${form.title} is not served here. GET /api/v1/generators lists the available generators`, {
    param: 'generator',
  });
}

async function byDeployment(ctx: Context, generator: GeneratorName, model: string): Promise<ChosenProvider> {
  const server = await findImageServer(ctx, model);
  if ('starter' in server) return byStarter(generator, model, server.starter);
  return {
    provider: 'own',
    model,
    queue: `deployment:${server.podId}`,
    form: formOfDeployment(generators[generator]),
  };
}

/** Returns the provider for the starter, or for a deployment of it. */
function byStarter(generator: GeneratorName, model: string, starter: string): ChosenProvider {
  const form: Generator = generators[generator];
  const isStandIn = !form.starter && starterFor(generator).starter.model === starter;
  const taken = isStandIn
    ? formOfSubstitute(generator)
    : formOfStarter(formOfDeployment(form, { ofStarter: true }));
  return { provider: 'own', model, queue: `starter:${starter}`, form: taken };
}

function byService(form: Generator, upstream: Upstream): ChosenProvider {
  const { model, fields } = upstream;
  return {
    provider: 'upstream',
    model,
    queue: `upstream:${upstream.service}`,
    upstream,
    form: formOfService(form, fields),
  };
}

function notServedBy(service: string, upstreams: readonly Upstream[]): AppError {
  const known = upstreams.map(({ title }) => `'${title}'`).join(', ');
  return notFoundError(
    `No service '${service}' serves this here. ${known ? `service must be one of ${known}` : 'None does'}`,
    { param: 'service' },
  );
}
