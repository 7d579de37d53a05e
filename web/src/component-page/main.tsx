import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createRootRoute, createRouter, RouterProvider } from '@tanstack/react-router';
import { createRoot } from 'react-dom/client';
import { Toaster } from '../ui/toaster.tsx';
import { ComponentPage } from './component-page.tsx';
import '../styles.css';

// Links have no targets here: every address shows this page.
const router = createRouter({
  routeTree: createRootRoute({ component: ComponentPage, notFoundComponent: ComponentPage }),
});

const root = document.getElementById('root');
if (!root) throw new Error('components.html has no #root');

createRoot(root).render(
  <QueryClientProvider client={new QueryClient()}>
    <RouterProvider router={router as never} />
    <Toaster />
  </QueryClientProvider>,
);
