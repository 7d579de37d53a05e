import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createMemoryHistory, createRootRoute, createRouter, RouterProvider } from '@tanstack/react-router';
import { render, screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import { ComponentPage } from './component-page.tsx';

const sources = import.meta.glob<string>(['../ui/*.tsx', '!../ui/*.test.tsx'], {
  eager: true,
  query: '?raw',
  import: 'default',
});
const pages = import.meta.glob<string>('./*.tsx', { eager: true, query: '?raw', import: 'default' });

/** Parts of other components, and components that need a running product. */
const notShown = new Set([
  ...['chart-canvas', 'checkbox-box', 'markdown-content', 'form-fields'],
  ...['product-picture', 'toaster', 'use-closing-question'],
]);

test('the page shows every component', () => {
  const text = Object.values(pages).join('\n');
  const files = Object.keys(sources).map((path) => path.replace(/.*\/(.*)\.tsx/, '$1'));
  expect(files.length).toBeGreaterThan(40);
  expect(files.filter((name) => !notShown.has(name) && !text.includes(`'../ui/${name}.tsx'`))).toEqual([]);
});

test('the page renders in both themes', async () => {
  const router = createRouter({
    routeTree: createRootRoute({ component: ComponentPage }),
    history: createMemoryHistory(),
  });
  render(
    <QueryClientProvider client={new QueryClient()}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
  const dark = await screen.findByRole('main', { name: 'dark theme' });
  expect(dark.querySelectorAll('section[aria-label]').length).toBeGreaterThan(20);
  expect(screen.getAllByRole('main')).toHaveLength(2);
});
