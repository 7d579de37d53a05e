import { type GeneratorName, generatorNames } from '@bakehouse/contract/generators';
import { type AnyRoute, createRoute } from '@tanstack/react-router';
import { page } from '../../lib/api/page.ts';
import type { Brought } from '../images/api.ts';

const generatorPage = page(() => import('./generator-page.tsx'), 'GeneratorPage');

/** Kept for who is signed in. */
const ownPages = ['flux-kontext'] as const satisfies GeneratorName[];
type OwnPage = (typeof ownPages)[number];
const publicPages = generatorNames.filter(
  (name): name is Exclude<GeneratorName, OwnPage> => !ownPages.some((own) => own === name),
);

/** The generators that anybody may look at: one page for all, each also with this installation's own models alone. */
export const generatorsRoutes = <Public extends AnyRoute>(parent: Public) =>
  publicPages.flatMap(
    (name) =>
      [
        createRoute({
          getParentRoute: () => parent,
          path: `/${name}`,
          validateSearch: parseBrought,
          component: generatorPage,
        }),
        createRoute({
          getParentRoute: () => parent,
          path: `/bakery/${name}`,
          validateSearch: parseBrought,
          component: generatorPage,
        }),
      ] as const,
  );

/** The others, and the quick way to all, for who is signed in. */
export const ownGeneratorsRoutes = <App extends AnyRoute>(parent: App) =>
  [
    createRoute({
      getParentRoute: () => parent,
      path: '/instant-generation',
      component: page(() => import('./instant-generation-page.tsx'), 'InstantGenerationPage'),
    }),
    ...ownPages.flatMap(
      (name) =>
        [
          createRoute({
            getParentRoute: () => parent,
            path: `/${name}`,
            validateSearch: parseBrought,
            component: generatorPage,
          }),
          createRoute({
            getParentRoute: () => parent,
            path: `/bakery/${name}`,
            validateSearch: parseBrought,
            component: generatorPage,
          }),
        ] as const,
    ),
  ] as const;

/** What somebody brings along. */
function parseBrought({
  prompt,
  settings,
  source,
  source_output: output,
  same_source_as: sameAsId,
}: Record<string, unknown>): Brought {
  const isObject = typeof settings === 'object' && settings !== null && !Array.isArray(settings);
  return {
    ...(typeof prompt === 'string' && { prompt }),
    ...(typeof source === 'string' && { source }),
    ...(typeof output === 'string' && { source_output: output }),
    ...(typeof sameAsId === 'string' && { same_source_as: sameAsId }),
    ...(isObject && { settings: settings as NonNullable<Brought['settings']> }),
  };
}
