import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { afterEach, expect, test, vi } from 'vitest';
import { setCredentials } from '../../lib/api/credentials.ts';
import { SearchBox } from './search-box.tsx';

const navigate = vi.hoisted(() => vi.fn<(to: object) => void>());
vi.mock('@tanstack/react-router', async (original) => ({
  ...(await original<object>()),
  useNavigate: () => navigate,
}));

afterEach(() => vi.unstubAllGlobals());

function Box() {
  const [typed, setTyped] = useState('');
  return <SearchBox typed={typed} onType={setTyped} onOpenPalette={() => undefined} />;
}

test('what was found for other words is not opened with what is typed now', async () => {
  setCredentials({ userId: 'u1', apiKey: 'bk_1' });
  const found = { kind: 'model', id: 'm1', name: 'Bread', deploys_as: null, tags: [] };
  vi.stubGlobal(
    'fetch',
    vi.fn((url: string) =>
      url.includes('query=bread%20rolls') || url.includes('query=bread+rolls')
        ? new Promise<Response>(() => undefined)
        : Promise.resolve(Response.json({ results: [found], similar: false })),
    ),
  );
  render(
    <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
      <Box />
    </QueryClientProvider>,
  );
  const box = screen.getByRole('combobox');
  await userEvent.type(box, 'bread');
  await screen.findByRole('option', { name: /Bread/ });
  await userEvent.type(box, ' rolls');
  await screen.findByText('Searching…');
  expect(screen.queryByRole('option')).toBeNull();
  await userEvent.keyboard('{Enter}');
  expect(navigate).not.toHaveBeenCalled();
});
