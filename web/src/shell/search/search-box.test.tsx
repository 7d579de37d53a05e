import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { act, fireEvent, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { setCredentials } from '../../lib/api/credentials.ts';
import { SearchBox } from './search-box.tsx';

const navigate = vi.hoisted(() => vi.fn<(to: object) => void>());
vi.mock('@tanstack/react-router', async (original) => ({
  ...(await original<object>()),
  useNavigate: () => navigate,
}));

vi.mock('../../modules/accounts/session.ts', async (original) => ({
  ...(await original<object>()),
  useUser: () => ({ id: 'u1', isOperator: false }),
}));

const openPalette = vi.fn<(typed: string) => void>();

beforeEach(() => {
  navigate.mockReset();
  setCredentials({ userId: 'u1', apiKey: 'bk_1' });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function Box() {
  const [typed, setTyped] = useState('');
  return <SearchBox typed={typed} onType={setTyped} onOpenPalette={openPalette} />;
}

const show = () =>
  render(
    <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
      <Box />
    </QueryClientProvider>,
  );

test('Enter does not open a result of an earlier text', async () => {
  const found = { kind: 'model', id: 'm1', name: 'Bread', tags: [] };
  vi.stubGlobal(
    'fetch',
    vi.fn((url: string) =>
      url.includes('query=bread%20rolls') || url.includes('query=bread+rolls')
        ? new Promise<Response>(() => undefined)
        : Promise.resolve(Response.json({ results: [found], similar: false })),
    ),
  );
  show();
  const box = screen.getByRole('combobox');
  await userEvent.type(box, 'bread');
  await screen.findByRole('option', { name: /Bread/ });
  await userEvent.type(box, ' rolls');
  await screen.findByText('Searching…');
  expect(screen.queryByRole('option')).toBeNull();
  await userEvent.keyboard('{Enter}');
  expect(navigate).not.toHaveBeenCalled();
});

/** Types into a search box whose server finds models with these names. */
async function find(typed: string, names: string[]) {
  const results = names.map((name) => ({ kind: 'model', id: name, name, tags: [] }));
  vi.stubGlobal(
    'fetch',
    vi.fn(async () => Response.json({ results, similar: false })),
  );
  show();
  if (typed !== '') await userEvent.type(screen.getByRole('combobox'), typed);
}

test('lists matching pages and generators below the models', async () => {
  await find('paris', ['Paris starter']);
  await screen.findByRole('option', { name: /Paris starter/ });
  const names = screen.getAllByRole('option').map(({ textContent }) => textContent);
  expect(names[0]).toContain('Paris starter');
  expect(names).toContain('ParisGenerates pictures');
  await userEvent.click(screen.getByRole('option', { name: 'Paris Generates pictures' }));
  expect(navigate).toHaveBeenCalledWith({ to: '/paris' });
});

test('lists pages even if no model is found', async () => {
  await find('deploy', []);
  const page = await screen.findByRole('option', { name: 'Deploy Models Page' });
  expect(screen.getByText('No models found')).toBeTruthy();
  await userEvent.click(page);
  expect(navigate).toHaveBeenCalledWith({ to: '/my-deployments' });
});

test('passes its text on to the palette', async () => {
  await find('dark', []);
  await screen.findByText('No models found');
  await userEvent.click(screen.getByRole('button', { name: /Pages, actions and runs/ }));
  expect(openPalette).toHaveBeenCalledExactlyOnceWith('dark');
});

test('searches 300 ms after the last keystroke', async () => {
  vi.useFakeTimers();
  const search = vi.fn(async (_url: string) => Response.json({ results: [], similar: false }));
  vi.stubGlobal('fetch', search);
  const asked = () => search.mock.calls.map(([url]) => url).filter((url) => url.includes('query='));
  show();
  const box = screen.getByRole('combobox');
  for (const value of ['b', 'br', 'bread']) {
    fireEvent.change(box, { target: { value } });
    await act(() => vi.advanceTimersByTimeAsync(300 - 1));
  }
  expect(asked()).toEqual([]);
  await act(() => vi.advanceTimersByTimeAsync(1));
  expect(asked()).toEqual([expect.stringContaining('query=bread')]);
});

test('suggests tags before anything is typed', async () => {
  await find('', []);
  await userEvent.click(screen.getByRole('combobox'));
  const names = (await screen.findAllByRole('option')).map(({ textContent }) => textContent);
  expect(names).toEqual(['transformers', 'pytorch', 'llama', 'code', 'text-generation']);
});
