import type { GeneratorName } from '@bakehouse/contract/generators';
import { starterFor } from '@bakehouse/contract/generators/stand-in';
import { generators } from '@bakehouse/contract/generators/table';
import type { ServedGenerator } from '../served-generators.ts';

/** Who can generate on a generator's page. */
export type ProviderChoice =
  | { kind: 'service'; name: string; title: string; price: string }
  | { kind: 'deployment'; name: string; title: string }
  | { kind: 'starter'; name: string; title: string };

/** What a call says of who generates; nothing where nobody is named. */
export type NamedProvider = { model?: string; service?: string };

type Known = {
  /** Who serves the generator, as far as that is known. */
  served: ServedGenerator | undefined;
  /** The page has this installation's own models alone. */
  ownOnly: boolean;
  /** The person's own deployments that can be used at once, the newest first. */
  models: readonly { model_name: string; title: string }[];
};

/** Who can generate: services, the person's own deployments, and the starter. */
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
 * Who of them generates: whom the address names. Else, where it has a starter of its own, a deployment before a service;
 * elsewhere a service before a deployment; else the starter.
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

/** Whether it has a starter of its own. */
export function hasStarter(name: GeneratorName): boolean {
  return generators[name].starter !== undefined;
}

/** How an address or a call names whoever generates. */
export function providerSearch({ kind, name }: ProviderChoice): NamedProvider {
  return kind === 'service' ? { service: name } : { model: name };
}
