import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { setCredentials } from '../../lib/api/credentials.ts';
import { CommandPalette } from './command-palette.tsx';

vi.mock('@tanstack/react-router', async (original) => ({
  ...(await original<object>()),
  useLocation: () => ({ pathname: '/dashboard' }),
  useNavigate: () => vi.fn(),
}));
vi.mock('../../modules/accounts/api.ts', async (original) => ({
  ...(await original<object>()),
  useUser: () => ({ id: 'u1', isOperator: false }),
}));

afterEach(() => vi.unstubAllGlobals());

/** Types into a palette whose searches are answered like this; what else it reads is empty. */
async function search(status: number, answer: unknown, typed: string): Promise<void> {
  setCredentials({ userId: 'u1', apiKey: 'bk_1' });
  vi.stubGlobal(
    'fetch',
    vi.fn(async (url: string) =>
      url.includes('search')
        ? Response.json(answer, { status })
        : Response.json({ pods: [], runs: [], next_cursor: null }),
    ),
  );
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  render(
    <QueryClientProvider client={client}>
      <CommandPalette onClose={() => {}} />
    </QueryClientProvider>,
  );
  await userEvent.type(screen.getByRole('combobox'), typed);
}

test('a search that failed is not told as one that found nothing', async () => {
  await search(503, { error: { code: 'unavailable', message: 'The database is away.' } }, 'zzz');
  expect((await screen.findByRole('alert')).textContent).toBe('The search failed: The database is away.');
  expect(screen.queryByText('Nothing matches')).toBeNull();
});

test('pages and actions are there all the same', async () => {
  await search(503, { error: { code: 'unavailable', message: 'The database is away.' } }, 'dark');
  await screen.findByRole('alert');
  expect(screen.getByRole('option', { name: 'Use the dark theme' })).toBeTruthy();
});

test('a search that found nothing says so', async () => {
  await search(200, { results: [], similar: false }, 'zzz');
  await screen.findByText('Nothing matches');
  expect(screen.queryByRole('alert')).toBeNull();
});
