import { type GeneratorName, generatorNames } from '@bakehouse/contract/generators';
import { type AnyRoute, createRoute } from '@tanstack/react-router';
import { pageComponent } from '../../lib/loadable.tsx';
import type { PrefilledInput } from '../generations/actions/remix.ts';
import type { QuickFormSearch } from './instant-generation-page.tsx';

const generatorPage = pageComponent(() => import('./generator-page.tsx'), 'GeneratorPage');

/** Pages for signed-in users only. */
const ownPages = ['flux-kontext'] as const satisfies GeneratorName[];
type OwnPage = (typeof ownPages)[number];
const publicPages = generatorNames.filter(
  (name): name is Exclude<GeneratorName, OwnPage> => !ownPages.some((own) => own === name),
);

/** The public generators. */
export const generatorsRoutes = <Public extends AnyRoute>(parent: Public) => pagesOf(parent, publicPages);

/** The other generators and the quick form, for signed-in users. */
export const ownGeneratorsRoutes = <App extends AnyRoute>(parent: App) =>
  [
    createRoute({
      getParentRoute: () => parent,
      path: '/instant-generation',
      validateSearch: parseQuickForm,
      component: pageComponent(() => import('./instant-generation-page.tsx'), 'InstantGenerationPage'),
    }),
    ...pagesOf(parent, ownPages),
  ] as const;

/** One page for all generators, each also in a variant with only this installation's own models. */
function pagesOf<Parent extends AnyRoute, Name extends GeneratorName>(
  parent: Parent,
  names: readonly Name[],
) {
  const pageAt = <Path extends string>(path: Path) =>
    createRoute({
      getParentRoute: () => parent,
      path,
      validateSearch: parseBrought,
      component: generatorPage,
    });
  return names.flatMap((name) => [pageAt(`/${name}`), pageAt(`/bakery/${name}`)] as const);
}

function parseQuickForm({ generator, prompt }: Record<string, unknown>): QuickFormSearch {
  const name = generatorNames.find((one) => one === generator);
  return { ...(name && { generator: name }), ...(typeof prompt === 'string' && { prompt }) };
}

/** Parses the values that a link brings. */
function parseBrought({
  prompt,
  settings,
  source,
  source_output: output,
  same_source_as: sameAsId,
  model,
  service,
}: Record<string, unknown>): PrefilledInput {
  const isObject = typeof settings === 'object' && settings !== null && !Array.isArray(settings);
  return {
    ...(typeof prompt === 'string' && { prompt }),
    ...(typeof source === 'string' && { source }),
    ...(typeof output === 'string' && { source_output: output }),
    ...(typeof sameAsId === 'string' && { same_source_as: sameAsId }),
    ...(typeof model === 'string' && { model }),
    ...(typeof service === 'string' && { service }),
    ...(isObject && { settings: settings as NonNullable<PrefilledInput['settings']> }),
  };
}
