import type { GeneratorName } from '@bakehouse/contract/generators';
import { starterFor } from '@bakehouse/contract/generators/stand-in';
import { generators } from '@bakehouse/contract/generators/table';
import type { ServedGenerator } from '../served-generators.ts';

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
  /** The page offers only this server's own models. */
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
