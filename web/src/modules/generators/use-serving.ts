import { imageDeploymentKinds } from '@bakehouse/contract/deployments/images';
import { type GeneratorName, makesVideos, type Provider } from '@bakehouse/contract/generators';
import { editsPictures, type Generator } from '@bakehouse/contract/generators/generator';
import {
  atDeployment,
  atService,
  atStarter,
  loraFields,
} from '@bakehouse/contract/generators/parameters/parameters';
import { atStandIn } from '@bakehouse/contract/generators/stand-in';
import { generators } from '@bakehouse/contract/generators/table';
import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { useActiveKontextDeployment, useUsableDeployments } from '../deployments/own-image-models.ts';
import type { Brought } from '../generations/actions/remix.ts';
import {
  chooseProvider,
  hasStarter,
  type NamedProvider,
  type ProviderChoice,
  providerSearch,
  providersOf,
} from './form/providers.ts';
import { type ServedGenerator, servedGeneratorsQuery } from './served-generators.ts';

/** Who generates on a generator's page, and the form as they take it. */
export function useServing(
  name: GeneratorName,
  { ownOnly, userId }: { ownOnly: boolean; userId: string | undefined },
) {
  const { model, service }: Brought = useSearch({ strict: false });
  const query = useQuery(servedGeneratorsQuery);
  const served = query.data?.[name];
  const kind = makesVideos(name) ? 'wan' : imageDeploymentKinds.find((one) => one === name);
  const { models, isLoading } = useUsableDeployments(kind ?? 'flux', kind && userId);
  // One of the person's own that is on its way edits, too, before a service or the starter.
  const awaitsOwn =
    !!useActiveKontextDeployment(editsPictures(generators[name]) ? userId : undefined) && models.length === 0;
  const providers = providersOf(name, { served, ownOnly, models });
  const isNamed = model !== undefined || service !== undefined;
  const provider = awaitsOwn && !isNamed ? undefined : chooseProvider(name, providers, { model, service });
  // It is not known yet whether anybody else generates than a deployment.
  const isOwn = provider?.kind === 'deployment' && (isNamed || hasStarter(name) || query.data !== undefined);
  const upstream = provider?.kind === 'service' ? upstreamAt(served, provider) : null;
  const isStarter = !awaitsOwn && (provider ? provider.kind === 'starter' : hasStarter(name));
  return {
    ...{ served: query, providers, provider, upstream },
    /** The deployment that the address asks for. */
    namedModel: model,
    named: nameOf(provider, { served, isNamed, isOwn, isVideo: makesVideos(name) }),
    form: isOwn ? atDeployment(generators[name]) : formOf(name, { provider, upstream, isStarter }),
    by: isOwn ? (['own'] satisfies Provider[]) : (served?.served_by ?? []),
    /** Whether it is still read who generates. */
    isLoading: query.isPending || isLoading,
    isBeingPrepared: served?.is_being_prepared ?? false,
    isStarter,
    /** Another generator's starter answers in its place. */
    isStandIn: isStarter && !hasStarter(name),
  };
}

type Serving = {
  provider: ProviderChoice | undefined;
  upstream: ReturnType<typeof upstreamAt>;
  isStarter: boolean;
};

/** A LoRA is for who is known to take one, and what a starter makes in one way alone is not asked for. */
function formOf(name: GeneratorName, { provider, upstream, isStarter }: Serving): Generator {
  const generator: Generator = generators[name];
  if (upstream) return atService(generator, upstream.fields);
  if (isStarter && !hasStarter(name)) return atStandIn(generator);
  const form = isStarter ? atStarter(generator) : generator;
  const isAsked = (field: string) =>
    form.fixed?.[field] === undefined && (provider?.kind === 'starter' || !isOfLora(field));
  return { ...form, fields: form.fields.filter((field) => isAsked(field.name)) };
}

const isOfLora = (name: string) => loraFields.some((one) => one === name);

function upstreamAt(
  served: ServedGenerator | undefined,
  { name }: ProviderChoice,
): ServedGenerator['upstreams'][number] | null {
  return served?.upstreams.find(({ title }) => title === name) ?? null;
}

type Choice = { served: ServedGenerator | undefined; isNamed: boolean; isOwn: boolean; isVideo: boolean };

/** What a call says of who generates: nothing where the server chooses the same. */
function nameOf(
  provider: ProviderChoice | undefined,
  { served, isNamed, isOwn, isVideo }: Choice,
): NamedProvider {
  if (!provider) return {};
  // A service comes before it, and a deployment that has begun meanwhile.
  const isPassedOver = provider.kind === 'starter' && (served?.served_by[0] === 'upstream' || isVideo);
  return isNamed || isOwn || isPassedOver ? providerSearch(provider) : {};
}
