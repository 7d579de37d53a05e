import type { GeneratorName, Provider } from '@bakehouse/contract/generators';
import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { useHasKontextDeployment, useUsableDeployments } from '../deployments/images/api.ts';
import type { Brought } from '../images/api.ts';
import { servedGeneratorsQuery } from './api.ts';
import { deployedForm, hasStarter, servedForm, upstreamOf } from './form/served-form.ts';

/** Who draws on a generator's page, and the form as they take it. */
export function useServing(
  name: GeneratorName,
  { ownOnly, userId }: { ownOnly: boolean; userId: string | undefined },
) {
  const served = useQuery(servedGeneratorsQuery);
  const servedHere = served.data?.[name];
  const service = upstreamOf(servedHere, ownOnly);
  const isEdited = useHasKontextDeployment(name === 'flux-kontext' ? userId : undefined);
  const { models, model } = useOwnModels(name, { userId, isServed: !served.data || service !== null });
  const common = { served, service, models, model };
  if (model !== undefined)
    return {
      ...common,
      ...{ upstream: null, form: deployedForm(name), isStarter: false, by: ['own'] satisfies Provider[] },
    };
  return {
    ...common,
    ...{ upstream: service, form: servedForm(name, servedHere, ownOnly), by: servedHere?.served_by ?? [] },
    // Edits are made by a deployment of the person's own, where there is one.
    isStarter: hasStarter(name) && service === null && !isEdited,
  };
}

/** The person's deployments that draw for the generator, and the one that the address names; the first where nothing else draws. */
function useOwnModels(
  name: GeneratorName,
  { userId, isServed }: { userId: string | undefined; isServed: boolean },
) {
  const { model: named }: Brought = useSearch({ strict: false });
  const models = useUsableDeployments('flux', name === 'flux' ? userId : undefined);
  const chosen = models.find(({ model_name }) => model_name === named) ?? (isServed ? undefined : models[0]);
  return { models, model: chosen?.model_name };
}
