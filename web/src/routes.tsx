import {
  createRootRoute,
  createRoute,
  createRouter,
  Outlet,
  type RouteComponent,
  redirect,
} from '@tanstack/react-router';
import type { FunctionComponent } from 'react';
import { parseCreatePanel } from './lib/create-panel.ts';
import { loadable } from './lib/loadable.tsx';
import { queryClient } from './lib/query-client.ts';
import { sessionQuery } from './modules/accounts/session.ts';
import { sessionHint } from './modules/accounts/session-hint.ts';
import { PageError } from './shell/page-error.tsx';
import { AppPending, PagePending } from './shell/page-pending.tsx';

/** A page with a chunk of its own. It is named and not picked, so that the routes' types do not hang on those of the pages, which use them. */
function page<Module>(load: () => Promise<Module>, name: keyof Module & string): RouteComponent {
  return loadable(async () => (await load())[name] as FunctionComponent);
}

const rootRoute = createRootRoute({ component: Outlet, errorComponent: PageError });

const landingRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  validateSearch: parseLanding,
  beforeLoad: () => {
    if (isExpected()) throw redirect({ to: '/dashboard', replace: true });
  },
  component: page(() => import('./modules/accounts/landing-page.tsx'), 'LandingPage'),
});

/**
 * Everything inside needs a session; the landing page remembers where the person wanted to go. Nothing waits for the
 * session to be read: shell or landing page are painted at once, and each leads to the other when it was the wrong one.
 */
const appRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'app',
  validateSearch: parseCreatePanel,
  beforeLoad: ({ location }) => {
    if (!isExpected()) throw redirect({ to: '/', replace: true, state: { next: location.href } });
  },
  component: page(() => import('./shell/app-shell.tsx'), 'AppShell'),
  pendingComponent: AppPending,
});

const dashboardRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/dashboard',
  component: page(() => import('./modules/home/dashboard-page.tsx'), 'DashboardPage'),
});

const profileRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/profile',
  component: page(() => import('./modules/accounts/profile-page.tsx'), 'ProfilePage'),
});

const apiKeyRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/api-key',
  component: page(() => import('./modules/accounts/api-key-page.tsx'), 'ApiKeyPage'),
});

const buyRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/buy-bagels',
  component: page(() => import('./modules/credits/buy-credits-page.tsx'), 'BuyCreditsPage'),
});

const transactionsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/transactions',
  validateSearch: ({
    from,
    to,
    view,
  }: Record<string, unknown>): { from?: string; to?: string; view?: 'statement' } => ({
    ...(isDate(from) && { from }),
    ...(isDate(to) && { to }),
    ...(view === 'statement' && { view }),
  }),
  component: page(() => import('./modules/credits/transactions-page.tsx'), 'TransactionsPage'),
});

const ledgerRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/operator/ledger',
  component: page(() => import('./modules/credits/ledger-page.tsx'), 'LedgerPage'),
});

const datasetsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/dataset',
  validateSearch: parseAssetList,
  component: page(() => import('./modules/assets/datasets-page.tsx'), 'DatasetsPage'),
});

const datasetRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/dataset/$id/description',
  validateSearch: parseTabAndFile,
  component: page(() => import('./modules/assets/dataset-page.tsx'), 'DatasetPage'),
});

const modelsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/model',
  validateSearch: parseAssetList,
  component: page(() => import('./modules/assets/models-page.tsx'), 'ModelsPage'),
});

const modelRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/model/$id/description',
  validateSearch: parseTabAndFile,
  component: page(() => import('./modules/assets/model-page.tsx'), 'ModelPage'),
});

const runsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/llm-training',
  validateSearch: ({ compare }: Record<string, unknown>): { compare?: string } =>
    typeof compare === 'string' ? { compare } : {},
  component: page(() => import('./modules/training/runs-page.tsx'), 'RunsPage'),
});

const runsAliasRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/runs',
  beforeLoad: () => {
    throw redirect({ to: '/llm-training', replace: true });
  },
});

const runRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/runs/$id',
  component: page(() => import('./modules/training/run-page.tsx'), 'RunPage'),
});

const deploymentsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/my-deployments',
  validateSearch: ({ ended }: Record<string, unknown>): { ended?: boolean } =>
    ended === true ? { ended } : {},
  component: loadable(
    async () => (await import('./modules/deployments/deployments-page.tsx')).DeploymentsPage,
  ),
});

const deploymentRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/my-deployments/$podId',
  validateSearch: parseTabAndFile,
  component: page(() => import('./modules/deployments/deployment-page.tsx'), 'DeploymentPage'),
});

const notFoundRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '$',
  component: page(() => import('./shell/not-found-page.tsx'), 'NotFoundPage'),
});

const routeTree = rootRoute.addChildren([
  landingRoute,
  appRoute.addChildren([
    dashboardRoute,
    profileRoute,
    apiKeyRoute,
    buyRoute,
    transactionsRoute,
    ledgerRoute,
    datasetsRoute,
    datasetRoute,
    modelsRoute,
    modelRoute,
    runsRoute,
    runsAliasRoute,
    runRoute,
    deploymentsRoute,
    deploymentRoute,
    notFoundRoute,
  ]),
]);

export const router = createRouter({
  routeTree,
  defaultPreload: 'intent',
  defaultPendingMs: 150,
  defaultPendingComponent: PagePending,
  defaultErrorComponent: PageError,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
  interface HistoryState {
    /** Where to go after signing in. */
    next?: string;
  }
}

/** Whether somebody is signed in; while that is not known, whether somebody was. */
function isExpected(): boolean {
  const user = queryClient.getQueryData(sessionQuery.queryKey);
  return user === undefined ? sessionHint.get() === 'expected' : user !== null;
}

type LandingSearch = { form?: 'sign-up' | 'forgot-password' | 'new-password'; token?: string };

function parseLanding({ form, token }: Record<string, unknown>): LandingSearch {
  if (form === 'new-password' && typeof token === 'string') return { form, token };
  return form === 'sign-up' || form === 'forgot-password' ? { form } : {};
}

type AssetListSearch = { search?: string; sort?: 'title' | 'size' };

function parseAssetList({ search, sort }: Record<string, unknown>): AssetListSearch {
  return {
    ...(typeof search === 'string' && search !== '' && { search }),
    ...((sort === 'title' || sort === 'size') && { sort }),
  };
}

function parseTabAndFile({ tab, file }: Record<string, unknown>): { tab?: string; file?: string } {
  return { ...(typeof tab === 'string' && { tab }), ...(typeof file === 'string' && { file }) };
}

function isDate(value: unknown): value is string {
  return typeof value === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(value);
}
