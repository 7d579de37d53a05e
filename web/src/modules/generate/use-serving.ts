import { imageDeploymentKinds } from '@bakehouse/contract/deployments/images';
import { type GeneratorName, makesVideos, type Provider } from '@bakehouse/contract/generators';
import { editsPictures, type Generator, type GeneratorField } from '@bakehouse/contract/generators/generator';
import {
  formOfDeployment,
  formOfService,
  formOfStarter,
  loraFields,
} from '@bakehouse/contract/generators/parameters/parameters';
import { formOfSubstitute } from '@bakehouse/contract/generators/stand-in';
import { generators } from '@bakehouse/contract/generators/table';
import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { useActiveKontextDeployment, useUsableDeployments } from '../deployments/own-image-models.ts';
import type { PrefilledInput } from '../gallery/actions/remix.ts';
import {
  chooseProvider,
  hasStarter,
  type NamedProvider,
  type ProviderChoice,
  providerSearch,
  providersOf,
} from './form/providers.ts';
import { type ServedGenerator, servedGeneratorsQuery } from './served-generators.ts';

/** Returns the provider of a generator's page, and its form. */
export function useServing(
  name: GeneratorName,
  { ownOnly, userId }: { ownOnly: boolean; userId: string | undefined },
) {
  const { model, service }: PrefilledInput = useSearch({ strict: false });
  const query = useQuery(servedGeneratorsQuery);
  const served = query.data?.[name];
  const kind = makesVideos(name) ? 'wan' : imageDeploymentKinds.find((one) => one === name);
  const { models, isLoading } = useUsableDeployments(kind ?? 'flux', kind && userId);
  // A pending deployment of the user is preferred to a service or the starter for edits.
  const awaitsOwn =
    !!useActiveKontextDeployment(editsPictures(generators[name]) ? userId : undefined) && models.length === 0;
  const providers = providersOf(name, { served, ownOnly, models });
  const isNamed = model !== undefined || service !== undefined;
  const provider = awaitsOwn && !isNamed ? undefined : chooseProvider(name, providers, { model, service });
  // While loading it is unknown if another provider is preferred to the deployment.
  const isOwn = provider?.kind === 'deployment' && (isNamed || hasStarter(name) || query.data !== undefined);
  const upstream = provider?.kind === 'service' ? upstreamAt(served, provider) : null;
  const isStarter = !awaitsOwn && (provider ? provider.kind === 'starter' : hasStarter(name));
  return {
    ...{ served: query, providers, provider, upstream },
    /** The deployment in the URL. */
    namedModel: model,
    named: nameOf(provider, { served, isNamed, isOwn, isVideo: makesVideos(name) }),
    form: isOwn ? formOfDeployment(generators[name]) : formOf(name, { provider, upstream, isStarter }),
    by: isOwn ? (['own'] satisfies Provider[]) : (served?.served_by ?? []),
    /** The provider is still loading. */
    isLoading: query.isPending || isLoading,
    isBeingPrepared: served?.is_being_prepared ?? false,
    isStarter,
    /** Another generator's starter is used instead. */
    isStandIn: isStarter && !hasStarter(name),
  };
}

type Serving = {
  provider: ProviderChoice | undefined;
  upstream: ReturnType<typeof upstreamAt>;
  isStarter: boolean;
};

/** Omits LoRA fields unless the provider supports them, and fields that the starter fixes. */
function formOf(name: GeneratorName, { provider, upstream, isStarter }: Serving): Generator {
  const generator: Generator = generators[name];
  if (upstream) return formOfService(generator, upstream.fields);
  const ofStarter = () => (hasStarter(name) ? formOfStarter(generator) : formOfSubstitute(name));
  const form = isStarter ? ofStarter() : generator;
  const isAsked = ({ name: field, isOfStarter }: GeneratorField) =>
    form.fixed?.[field] === undefined &&
    (provider?.kind === 'starter' || !isOfLora(field)) &&
    (isStarter || !isOfStarter);
  return { ...form, fields: form.fields.filter(isAsked) };
}

const isOfLora = (name: string) => loraFields.some((one) => one === name);

function upstreamAt(
  served: ServedGenerator | undefined,
  { name }: ProviderChoice,
): ServedGenerator['upstreams'][number] | null {
  return served?.upstreams.find(({ title }) => title === name) ?? null;
}

type Choice = { served: ServedGenerator | undefined; isNamed: boolean; isOwn: boolean; isVideo: boolean };

/** Returns the provider to name in a request; empty if the server would choose the same. */
function nameOf(
  provider: ProviderChoice | undefined,
  { served, isNamed, isOwn, isVideo }: Choice,
): NamedProvider {
  if (!provider) return {};
  // By default the server would choose a service, or a deployment started in the meantime.
  const isPassedOver = provider.kind === 'starter' && (served?.served_by[0] === 'upstream' || isVideo);
  return isNamed || isOwn || isPassedOver ? providerSearch(provider) : {};
}
