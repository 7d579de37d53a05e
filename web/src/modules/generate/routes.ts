import { type GeneratorName, generatorNames } from '@bakehouse/contract/generators';
import { type AnyRoute, createRoute } from '@tanstack/react-router';
import { waitForReads } from '../../lib/api/query-client.ts';
import { lazyPage } from '../../lib/lazy-page.ts';
import { oneOf, searchSchema, text } from '../../lib/url-search.ts';
import type { PrefilledInput } from '../gallery/actions/remix.ts';

const loadPage = () => import('./generator-page.tsx');
const loadQuickForm = () => import('./instant-generation-page.tsx');

const prefilledSearch = searchSchema<PrefilledInput>({
  prompt: text,
  source: text,
  source_output: text,
  same_source_as: text,
  model: text,
  service: text,
  settings: (value) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as PrefilledInput['settings'])
      : undefined,
});

/** Pages for signed-in users only. */
const ownPages = ['flux-kontext'] as const satisfies GeneratorName[];
type OwnPage = (typeof ownPages)[number];
const publicPages = generatorNames.filter(
  (name): name is Exclude<GeneratorName, OwnPage> => !ownPages.some((own) => own === name),
);

/** The public generators. */
export const generateRoutes = <Public extends AnyRoute>(parent: Public) => pagesOf(parent, publicPages);

/** The other generators and the quick form, for signed-in users. */
export const ownGenerateRoutes = <App extends AnyRoute>(parent: App) =>
  [
    createRoute({
      getParentRoute: () => parent,
      path: '/instant-generation',
      validateSearch: searchSchema({ generator: oneOf(...generatorNames), prompt: text }),
      loader: () => waitForReads(async () => (await loadQuickForm()).readQuickForm()),
    }).lazy(lazyPage(loadQuickForm, 'InstantGenerationPage')),
    ...pagesOf(parent, ownPages),
  ] as const;

/** One page for all generators, each also in a variant with only this server's own models. */
function pagesOf<Parent extends AnyRoute, Name extends GeneratorName>(
  parent: Parent,
  names: readonly Name[],
) {
  const pageAt = <Path extends string>(path: Path, name: Name) =>
    createRoute({
      getParentRoute: () => parent,
      path,
      validateSearch: prefilledSearch,
      loader: () => waitForReads(async () => (await loadPage()).readGenerator(name)),
    }).lazy(lazyPage(loadPage, 'GeneratorPage'));
  return names.flatMap((name) => [pageAt(`/${name}`, name), pageAt(`/bakery/${name}`, name)] as const);
}
