import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import { lazyPage } from './lib/lazy-page.ts';
import { parseSheetSearch } from './lib/sheet.ts';
import { oneOf, type SearchOf, searchSchema, text } from './lib/url-search.ts';
import { accountsRoutes } from './modules/accounts/routes.ts';
import { isProbablySignedIn } from './modules/accounts/session.ts';
import { sessionHint } from './modules/accounts/session-hint.ts';
import { billingRoutes } from './modules/billing/routes.ts';
import { chatRoutes } from './modules/chat/routes.ts';
import { datasetsRoutes } from './modules/datasets/routes.ts';
import { deploymentsRoutes } from './modules/deployments/routes.ts';
import { documentationRoutes } from './modules/documentation/routes.ts';
import { draftsRoutes } from './modules/drafts/routes.ts';
import { fineTuningRoutes } from './modules/fine-tuning/routes.ts';
import { galleryRoutes, sharedRoutes } from './modules/gallery/routes.ts';
import { generateRoutes, ownGenerateRoutes } from './modules/generate/routes.ts';
import { homeRoutes } from './modules/home/routes.ts';
import { hubRoutes } from './modules/hub/routes.ts';
import { modelsRoutes } from './modules/models/routes.ts';
import { operatorRoutes } from './modules/operator/routes.ts';
import { referralsRoutes } from './modules/referrals/routes.ts';
import { PageError } from './shell/states/page-error.tsx';
import { AppPending, PagePending } from './shell/states/page-pending.tsx';

const rootRoute = createRootRoute({
  component: Outlet,
  errorComponent: PageError,
  // Only for URLs that can't be decoded; other unknown paths match `notFoundRoute`.
  notFoundComponent: lazyRouteComponent(() => import('./shell/not-found-shell.tsx'), 'NotFoundShell'),
});

const landingSearch = searchSchema({
  form: oneOf('sign-up', 'forgot-password', 'new-password'),
  token: text,
  error: text,
  /** From an invitation link. */
  referral_code: text,
});

/** The landing page for visitors; signed-in users are redirected to the dashboard. */
const landingRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  validateSearch: parseLanding,
  beforeLoad: ({ search }) => {
    // A session was expected, but the sign-in provider returned an error.
    if (search.error) sessionHint.set('none');
    if (isProbablySignedIn()) throw redirect({ to: '/dashboard', replace: true });
  },
}).lazy(lazyPage(() => import('./modules/home/landing/landing-page.tsx'), 'LandingPage'));

/** Parent of pages that need no session. */
const publicRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'public',
  validateSearch: parseSheetSearch,
  pendingComponent: AppPending,
}).lazy(lazyPage(() => import('./shell/public-shell.tsx'), 'PublicShell'));

/**
 * Parent of pages that need a session. Redirects visitors to the landing page, which remembers the requested
 * page. Doesn't wait for the session: the expected one of shell and landing page renders immediately, and
 * redirects to the other if it is wrong.
 */
const appRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'app',
  validateSearch: parseSheetSearch,
  beforeLoad: ({ location }) => {
    if (!isProbablySignedIn())
      throw redirect({ to: '/', replace: true, state: { next: location.href, isSentBack: true } });
  },
  pendingComponent: AppPending,
}).lazy(lazyPage(() => import('./shell/app-shell.tsx'), 'AppShell'));

const notFoundRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '$',
}).lazy(lazyPage(() => import('./shell/states/not-found-page.tsx'), 'NotFoundPage'));

/** Each module defines its pages in a `routes.ts`. */
const routeTree = rootRoute.addChildren([
  landingRoute,
  publicRoute.addChildren([
    ...documentationRoutes(publicRoute),
    ...generateRoutes(publicRoute),
    ...sharedRoutes(publicRoute),
  ]),
  appRoute.addChildren([
    ...homeRoutes(appRoute),
    ...accountsRoutes(appRoute),
    ...billingRoutes(appRoute),
    ...referralsRoutes(appRoute),
    ...datasetsRoutes(appRoute),
    ...modelsRoutes(appRoute),
    ...hubRoutes(appRoute),
    ...fineTuningRoutes(appRoute),
    ...chatRoutes(appRoute),
    ...deploymentsRoutes(appRoute),
    ...draftsRoutes(appRoute),
    ...ownGenerateRoutes(appRoute),
    ...galleryRoutes(appRoute),
    ...operatorRoutes(appRoute),
    notFoundRoute,
  ]),
]);

export const router = createRouter({
  routeTree,
  defaultPreload: 'intent',
  // Queries decide how long data stays fresh.
  defaultPreloadStaleTime: 0,
  defaultPendingMs: 150,
  defaultPendingMinMs: 0,
  defaultPendingComponent: PagePending,
  defaultErrorComponent: PageError,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
  interface HistoryState {
    /** The page to open after signing in. */
    next?: string;
    /** That page requires a session. */
    isSentBack?: boolean;
    /** The previous history entry is the gallery without its comparison. */
    isGalleryBefore?: boolean;
  }
}

function parseLanding(search: Record<string, unknown>): SearchOf<typeof landingSearch> {
  const { form, token, error, referral_code } = landingSearch(search);
  const nothing = landingSearch({});
  const isReset = form === 'new-password';
  // For a password reset link: already used or expired. Otherwise: why a provider's sign-in failed.
  if (error) return { ...nothing, error, form: isReset ? form : undefined };
  if (isReset) return token ? { ...nothing, form, token } : nothing;
  return form ? { ...nothing, form } : { ...nothing, referral_code };
}
