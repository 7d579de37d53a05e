import type { GeneratorName, Provider } from '@bakehouse/contract/generators';
import type { Generator } from '@bakehouse/contract/generators/generator';
import { formOfService } from '@bakehouse/contract/generators/parameters/parameters';
import { formOfSubstitute, starterFor } from '@bakehouse/contract/generators/stand-in';
import { generators } from '@bakehouse/contract/generators/table';
import type { ServedGenerator } from '../served-generators.ts';

/** Returns the page's default service; null if a model of this installation generates, or nothing does. */
function upstreamOf(
  served: ServedGenerator | undefined,
  ownOnly: boolean,
): ServedGenerator['upstreams'][number] | null {
  if (ownOnly || !served || served.served_by[0] !== 'upstream') return null;
  return served.upstreams[0] ?? null;
}

/** Returns the form for the default provider. */
export function servedForm(
  name: GeneratorName,
  served: ServedGenerator | undefined,
  ownOnly: boolean,
): Generator {
  const upstream = upstreamOf(served, ownOnly);
  const isStandIn = !upstream && served?.served_by.includes('own') === true && !hasStarter(name);
  return isStandIn ? formOfSubstitute(generators[name]) : formOfService(generators[name], upstream?.fields);
}

/** Returns true if the starter is the default provider. */
export function isStarterFirst(name: GeneratorName, served: ServedGenerator | undefined): boolean {
  return hasStarter(name) && served?.served_by[0] === 'own';
}

/** Returns true if the page can generate; a page of own models counts only those. */
export function isServed(servedBy: readonly Provider[], ownOnly: boolean): boolean {
  return ownOnly ? servedBy.includes('own') : servedBy.length > 0;
}

/** The part of the served generators that this needs. */
export type ServedBy = Partial<Record<GeneratorName, { served_by: Provider[]; is_being_prepared: boolean }>>;

/** Returns true if a service or the generator's own model serves it, not another generator's starter. */
export function isConnected(name: GeneratorName, served: ServedBy, ownOnly: boolean): boolean {
  const by = served[name]?.served_by ?? [];
  return isServed(by, ownOnly) && (hasStarter(name) || (!ownOnly && by.includes('upstream')));
}

/** Returns a short label of what answers if it is not connected. */
export function servedByLabel(served: ServedBy[GeneratorName]): string {
  if (served?.is_being_prepared) return 'being prepared';
  return isServed(served?.served_by ?? [], false) ? 'starter model' : 'not connected';
}

/** Returns what an unserved page waits for, as a sentence. */
export function waitsFor(
  { title, makes, retired }: Generator,
  { ownOnly, isBeingPrepared }: { ownOnly: boolean; isBeingPrepared: boolean },
): string {
  if (retired !== undefined) return retired;
  if (isBeingPrepared)
    return `The starter model for ${title} is still being prepared. You can generate as soon as it is ready.`;
  const things = makes === 'image' ? 'pictures' : 'videos';
  return ownOnly
    ? `No model that makes its ${things} is deployed here.`
    : `Its ${things} come from a deployment or a service that an operator connects.`;
}

/** A provider that a generator's page offers. */
export type ProviderChoice =
  | { kind: 'service'; name: string; title: string; price: string }
  | { kind: 'deployment'; name: string; title: string }
  | { kind: 'starter'; name: string; title: string };

/** The provider in a request; empty for the server's default. */
export type NamedProvider = { model?: string; service?: string };

type Known = {
  /** Providers of the generator, as far as known. */
  served: ServedGenerator | undefined;
  /** The page offers only this installation's own models. */
  ownOnly: boolean;
  /** The user's usable deployments, newest first. */
  models: readonly { model_name: string; title: string }[];
};

/** Returns the providers to offer: services, the user's deployments, and the starter. */
export function providersOf(name: GeneratorName, { served, ownOnly, models }: Known): ProviderChoice[] {
  const services = ownOnly ? [] : (served?.upstreams ?? []);
  const starter = served?.served_by.includes('own') === true ? starterFor(name).starter : undefined;
  return [
    ...services.map(({ title, price }) => ({ kind: 'service' as const, name: title, title, price })),
    ...models.map(({ model_name, title }) => ({ kind: 'deployment' as const, name: model_name, title })),
    ...(starter ? [{ kind: 'starter' as const, name: starter.model, title: 'Starter model' }] : []),
  ];
}

/**
 * Returns the provider to use: the one in the URL. Otherwise, a generator with its own starter prefers a
 * deployment to a service, others prefer a service; the starter is last.
 */
export function chooseProvider(
  name: GeneratorName,
  providers: readonly ProviderChoice[],
  { model, service }: NamedProvider,
): ProviderChoice | undefined {
  const named = providers.find((one) => (one.kind === 'service' ? one.name === service : one.name === model));
  const first = (kind: ProviderChoice['kind']) => providers.find((one) => one.kind === kind);
  const deployment = first('deployment');
  if (named) return named;
  const [before, after] = hasStarter(name) ? [deployment, first('service')] : [first('service'), deployment];
  return before ?? after ?? first('starter');
}

/** Returns true if the generator has its own starter. */
export function hasStarter(name: GeneratorName): boolean {
  return generators[name].starter !== undefined;
}

/** Returns the provider as URL or request parameters. */
export function providerSearch({ kind, name }: ProviderChoice): NamedProvider {
  return kind === 'service' ? { service: name } : { model: name };
}
