import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
} from '@tanstack/react-router';
import { act, render, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { oneOf, searchSchema, text, useUrlSearch } from '../../lib/url-search.ts';
import { ResourcePage } from './resource-page.tsx';

const whose = [
  { value: 'own', label: 'Yours' },
  { value: 'shared', label: 'Shared' },
];

function Things() {
  const [filter] = useUrlSearch();
  return (
    <ResourcePage
      title="Things"
      filters={[
        { name: 'search', label: 'Search things' },
        { name: 'whose', label: 'Whose things', segmented: true, options: whose },
      ]}
    >
      <output>{JSON.stringify(filter)}</output>
    </ResourcePage>
  );
}

async function open(url: string) {
  const root = createRootRoute();
  const page = createRoute({
    getParentRoute: () => root,
    path: '/things',
    validateSearch: searchSchema({ search: text, whose: oneOf('shared') }),
    component: Things,
  });
  const router = createRouter({
    routeTree: root.addChildren([page]),
    history: createMemoryHistory({ initialEntries: [url] }),
  });
  render(<RouterProvider router={router as never} />);
  await screen.findByRole('heading', { name: 'Things' });
  return router;
}

const shown = () => JSON.parse(screen.getByRole('status').textContent ?? '');
const search = () => screen.getByRole<HTMLInputElement>('searchbox', { name: 'Search things' });

test('reads the filters from the URL and ignores invalid ones', async () => {
  await open('/things?search=rye&whose=nobody');
  expect(search().value).toBe('rye');
  expect(shown()).toEqual({ search: 'rye' });
  expect(document.title).toContain('Things');
});

test('stores a changed filter in the URL, replaces the history entry, and keeps other parameters', async () => {
  const router = await open('/things?search=rye');
  await userEvent.click(screen.getByRole('button', { name: 'Shared' }));
  await waitFor(() => expect(shown()).toEqual({ search: 'rye', whose: 'shared' }));
  expect(router.state.location.href).toBe('/things?search=rye&whose=shared');
  expect(router.history.length).toBe(1);
});

test('removes a default or an empty value from the URL', async () => {
  const router = await open('/things?search=rye&whose=shared');
  await userEvent.click(screen.getByRole('button', { name: 'Yours' }));
  await waitFor(() => expect(shown()).toEqual({ search: 'rye' }));
  await userEvent.click(screen.getByRole('button', { name: 'Clear the search' }));
  await waitFor(() => expect(shown()).toEqual({}));
  expect(router.state.location.href).toBe('/things');
});

test('follows the URL when the user goes back', async () => {
  const router = await open('/things?search=rye');
  await act(() => router.navigate({ to: '/things', search: { search: 'oat' } } as never));
  expect(search().value).toBe('oat');
  act(() => router.history.back());
  await waitFor(() => expect(search().value).toBe('rye'));
});
