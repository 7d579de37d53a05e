import type { GeneratorName, Provider } from '@bakehouse/contract/generators';
import type { Generator } from '@bakehouse/contract/generators/generator';
import { atService, loraFields } from '@bakehouse/contract/generators/parameters/parameters';
import { generators } from '@bakehouse/contract/generators/table';
import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { useActiveKontextDeployment, useUsableDeployments } from '../deployments/images/api.ts';
import type { Brought } from '../images/api.ts';
import { type ServedGenerator, servedGeneratorsQuery } from './api.ts';
import { chooseDrawer, type Drawer, drawerSearch, drawersOf, type NamedDrawer } from './form/drawers.ts';
import { deployedForm, hasStarter } from './form/served-form.ts';

/** Who draws on a generator's page, and the form as they take it. */
export function useServing(
  name: GeneratorName,
  { ownOnly, userId }: { ownOnly: boolean; userId: string | undefined },
) {
  const { model, service }: Brought = useSearch({ strict: false });
  const query = useQuery(servedGeneratorsQuery);
  const served = query.data?.[name];
  const edits = name === 'flux-kontext';
  const painters = useUsableDeployments('flux', name === 'flux' ? userId : undefined);
  const editors = useUsableDeployments('flux-kontext', edits ? userId : undefined);
  // One of the person's own that is on its way edits, too, before a service or the starter.
  const awaitsOwn = !!useActiveKontextDeployment(edits ? userId : undefined) && editors.length === 0;
  const drawers = drawersOf(name, { served, ownOnly, models: edits ? editors : painters });
  const isNamed = model !== undefined || service !== undefined;
  const drawer = awaitsOwn && !isNamed ? undefined : chooseDrawer(name, drawers, { model, service });
  // It is not known yet whether anybody else draws than a deployment.
  const isOwn = drawer?.kind === 'deployment' && (isNamed || edits || query.data !== undefined);
  const upstream = drawer?.kind === 'service' ? upstreamAt(served, drawer) : null;
  return {
    ...{ served: query, drawers, drawer, upstream },
    named: nameOf(drawer, { served, isNamed, isOwn }),
    form: isOwn ? deployedForm(name) : formOf(name, drawer, upstream),
    by: isOwn ? (['own'] satisfies Provider[]) : (served?.served_by ?? []),
    isStarter: hasStarter(name) && !awaitsOwn && (drawer === undefined || drawer.kind === 'starter'),
  };
}

/** A LoRA is for who is known to take one. */
function formOf(
  name: GeneratorName,
  drawer: Drawer | undefined,
  upstream: ReturnType<typeof upstreamAt>,
): Generator {
  const generator: Generator = generators[name];
  if (upstream) return atService(generator, upstream.fields);
  if (drawer?.kind === 'starter') return generator;
  return { ...generator, fields: generator.fields.filter((field) => !isOfLora(field.name)) };
}

const isOfLora = (name: string) => loraFields.some((one) => one === name);

function upstreamAt(
  served: ServedGenerator | undefined,
  { name }: Drawer,
): ServedGenerator['upstreams'][number] | null {
  return served?.upstreams.find(({ title }) => title === name) ?? null;
}

type Choice = { served: ServedGenerator | undefined; isNamed: boolean; isOwn: boolean };

/** What a call says of who draws: nothing where the server chooses the same. */
function nameOf(drawer: Drawer | undefined, { served, isNamed, isOwn }: Choice): NamedDrawer {
  if (!drawer) return {};
  const isPassedOver = drawer.kind === 'starter' && served?.served_by[0] === 'upstream';
  return isNamed || isOwn || isPassedOver ? drawerSearch(drawer) : {};
}
