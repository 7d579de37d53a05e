import { onlineManager, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { lazy, StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queryClient } from './lib/api/query-client.ts';
import { reportErrors } from './lib/error-reports/report-error.ts';
import { watchServer } from './lib/live/online.ts';
import { setNavigate } from './lib/navigation.ts';
import { followSystemTheme } from './lib/theme.ts';
import { sessionQuery } from './modules/accounts/session.ts';
import { saveReferralCode } from './modules/referrals/save-referral-code.ts';
import { router } from './routes.tsx';
import { AppError } from './shell/states/app-error.tsx';
import { Boundary, LazyPart } from './ui/boundary.tsx';
import { notifyFailures } from './ui/notify-failure.ts';
import './styles.css';

/** After the first screen, which shows no toasts. */
const Toaster = lazy(async () => ({ default: (await import('./ui/toaster.tsx')).Toaster }));

followSystemTheme();
saveReferralCode(location.search);
// Refetches failed queries when the server is reachable again.
onlineManager.setEventListener(watchServer);
// In parallel with loading the page's code.
void queryClient.prefetchQuery(sessionQuery);
notifyFailures(queryClient);
reportErrors(queryClient);
setNavigate((path) => void router.navigate({ href: path }));

const root = document.getElementById('root');
if (!root) throw new Error('index.html has no #root');

createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <Boundary fallback={AppError}>
        <RouterProvider router={router} />
      </Boundary>
      <LazyPart fallback={() => null}>
        <Toaster />
      </LazyPart>
    </QueryClientProvider>
  </StrictMode>,
);
