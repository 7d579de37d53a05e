import { starterFor } from '@bakehouse/contract/generators/stand-in';
import type { ReactNode } from 'react';
import { useUrlSearch } from '../../lib/url-search.ts';
import { Field } from '../../ui/field.tsx';
import { Money } from '../../ui/money.tsx';
import { Select } from '../../ui/select.tsx';
import type { PrefilledInput } from '../gallery/actions/remix.ts';
import { type ProviderChoice, providerSearch } from './form/providers.ts';
import { useGeneratorPage } from './generator-context.ts';

/** The choice of provider, kept in the URL. Shown if there is a choice or the user has a deployment. */
export function ModelField() {
  const { name, serving } = useGeneratorPage();
  const { providers, provider } = serving;
  const [, change] = useUrlSearch<PrefilledInput>();
  const isOneOfMany = providers.length > 1 || providers.some(({ kind }) => kind === 'deployment');
  if (!isOneOfMany) return null;
  const choose = (value: string) => {
    const chosen = providers.find((one) => valueOf(one) === value);
    change(
      { model: undefined, service: undefined, ...(chosen && providerSearch(chosen)) },
      { resetScroll: false },
    );
  };
  return (
    <Field label={providers.every(({ kind }) => kind === 'service') ? 'Service' : 'Model'}>
      <Select
        value={provider ? valueOf(provider) : null}
        onChange={choose}
        options={providers.map((one) => ({
          value: valueOf(one),
          label: one.title,
          description: descriptionOf(one, starterFor(name).starter.limits),
        }))}
      />
    </Field>
  );
}

/** A service and a deployment may have the same name. */
function valueOf({ kind, name }: ProviderChoice): string {
  return `${kind}:${name}`;
}

function descriptionOf(provider: ProviderChoice, limits: string): ReactNode {
  switch (provider.kind) {
    case 'service':
      return (
        <>
          External service, <Money unrounded bgl={provider.price} /> a picture
        </>
      );
    case 'deployment':
      return 'Your deployment';
    case 'starter':
      return `On this server, ${limits}`;
  }
}
