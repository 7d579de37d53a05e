import { type GeneratorName, generatorNames } from '@bakehouse/contract/generators';
import { type AnyRoute, createRoute } from '@tanstack/react-router';
import { pageComponent } from '../../lib/loadable.tsx';
import type { Brought } from '../generations/actions/remix.ts';
import type { QuickFormSearch } from './instant-generation-page.tsx';

const generatorPage = pageComponent(() => import('./generator-page.tsx'), 'GeneratorPage');

/** Kept for who is signed in. */
const ownPages = ['flux-kontext'] as const satisfies GeneratorName[];
type OwnPage = (typeof ownPages)[number];
const publicPages = generatorNames.filter(
  (name): name is Exclude<GeneratorName, OwnPage> => !ownPages.some((own) => own === name),
);

/** The generators that anybody may look at. */
export const generatorsRoutes = <Public extends AnyRoute>(parent: Public) => pagesOf(parent, publicPages);

/** The others, and the quick way to all, for who is signed in. */
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

/** One page for all, each generator also with this installation's own models alone. */
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

/** What somebody brings along. */
function parseBrought({
  prompt,
  settings,
  source,
  source_output: output,
  same_source_as: sameAsId,
  model,
  service,
}: Record<string, unknown>): Brought {
  const isObject = typeof settings === 'object' && settings !== null && !Array.isArray(settings);
  return {
    ...(typeof prompt === 'string' && { prompt }),
    ...(typeof source === 'string' && { source }),
    ...(typeof output === 'string' && { source_output: output }),
    ...(typeof sameAsId === 'string' && { same_source_as: sameAsId }),
    ...(typeof model === 'string' && { model }),
    ...(typeof service === 'string' && { service }),
    ...(isObject && { settings: settings as NonNullable<Brought['settings']> }),
  };
}
