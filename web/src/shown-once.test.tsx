import { QueryClientProvider } from '@tanstack/react-query';
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
} from '@tanstack/react-router';
import { act, render, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import type { ReactElement } from 'react';
import { beforeEach, expect, test, vi } from 'vitest';
import { call } from './lib/api/api-client.ts';
import { queryClient } from './lib/api/query-client.ts';
import { FurtherKeysCard } from './modules/accounts/keys/further-keys-card.tsx';
import { UserContext } from './modules/accounts/session.ts';
import { CreateCodesCard } from './modules/operator/codes/create-codes-card.tsx';

vi.mock('./lib/api/api-client.ts', () => ({ call: vi.fn<() => Promise<unknown>>() }));

const SECRET = 'bh_the-new-secret';

async function createKey(): Promise<void> {
  await userEvent.click(await screen.findByRole('button', { name: 'Create key' }));
  await userEvent.type(await screen.findByLabelText('Name'), 'Nightly');
  await userEvent.click(screen.getAllByRole('button', { name: 'Create key' }).at(-1) as HTMLElement);
}

async function createCodes(): Promise<void> {
  await userEvent.type(await screen.findByLabelText('Value of each code'), '2');
  await userEvent.click(screen.getByRole('button', { name: 'Create codes' }));
}

const cards: [card: ReactElement, ask: () => Promise<void>][] = [
  [<FurtherKeysCard key="" />, createKey],
  [<CreateCodesCard key="" />, createCodes],
];

/** Completes the creation request. */
let answer: (made: object) => void;

beforeEach(() => {
  queryClient.clear();
  vi.mocked(call)
    .mockReset()
    .mockImplementation(({ method }: { method: string }) =>
      method === 'GET' ? Promise.resolve({ api_keys: [] }) : new Promise((resolve) => (answer = resolve)),
    );
});

function open(card: ReactElement) {
  const root = createRootRoute();
  const router = createRouter({
    routeTree: root.addChildren([
      createRoute({ getParentRoute: () => root, path: '/', component: () => card }),
      createRoute({ getParentRoute: () => root, path: '/other' }),
    ]),
    history: createMemoryHistory({ initialEntries: ['/'] }),
  });
  render(
    <QueryClientProvider client={queryClient}>
      <UserContext value={{ id: 'ada' } as never}>
        <RouterProvider router={router as never} />
      </UserContext>
    </QueryClientProvider>,
  );
  return {
    go: () => void router.navigate({ href: '/other' }),
    at: () => router.history.location.pathname,
  };
}

test.each(cards)(
  'secret %# cannot be left behind while it is being created, and is shown once',
  async (card, ask) => {
    const { go, at } = open(card);
    await ask();
    await vi.waitFor(() =>
      expect(vi.mocked(call).mock.calls.filter(([{ method }]) => method === 'POST')).toHaveLength(1),
    );
    go();
    await screen.findByRole('alertdialog', { name: 'Leave without copying?' });
    expect(at()).toBe('/');
    // The question was not answered, and is obsolete now.
    await act(async () => answer({ secret: SECRET, codes: [SECRET] }));
    expect(await screen.findByText(SECRET)).toBeTruthy();
    await waitFor(() => expect(screen.queryByRole('alertdialog')).toBeNull());
    expect(at()).toBe('/');
  },
);

test.each(cards)('leaving anyway is allowed: secret %#', async (card, ask) => {
  const { go, at } = open(card);
  await ask();
  go();
  await userEvent.click(await screen.findByRole('button', { name: 'Leave' }));
  await waitFor(() => expect(at()).toBe('/other'));
});
