import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { setNavigate } from './lib/navigation.ts';
import { queryClient } from './lib/query-client.ts';
import { followSystemTheme } from './lib/theme.ts';
import { router } from './routes.tsx';
import { ToastHost } from './ui/toast-host.tsx';
import './styles.css';

followSystemTheme();
setNavigate((path) => void router.navigate({ href: path }));

const root = document.getElementById('root');
if (!root) throw new Error('index.html has no #root');

createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
      <ToastHost />
    </QueryClientProvider>
  </StrictMode>,
);
