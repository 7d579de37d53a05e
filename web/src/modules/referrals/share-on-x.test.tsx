import { getXAuthStatus, getXPostStatus, postReferralToX } from '@bakehouse/contract/referrals';
import { QueryClientProvider } from '@tanstack/react-query';
import { cleanup, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, test, vi } from 'vitest';
import { call } from '../../lib/api/api-client.ts';
import { ApiError } from '../../lib/api/api-error.ts';
import { queryClient } from '../../lib/api/query-client.ts';
import { ShareOnX } from './share-on-x.tsx';

vi.mock('../../lib/api/api-client.ts', () => ({ call: vi.fn<(endpoint: unknown) => Promise<unknown>>() }));
vi.mock('@tanstack/react-router', async (importOriginal) => ({
  ...(await importOriginal<object>()),
  getRouteApi: () => ({ useSearch: () => ({}) }),
  useNavigate: () => vi.fn<() => void>(),
}));

const LINK = 'https://bakehouse.example/?referral_code=abcd2345';
const answers = new Map<unknown, unknown>();

function show(status: 'not_configured' | 'not_connected' | 'connected', postUrl: string | null = null) {
  answers.set(getXAuthStatus, { status, username: status === 'connected' ? 'ada' : null });
  answers.set(getXPostStatus, { post_url: postUrl });
  render(
    <QueryClientProvider client={queryClient}>
      <ShareOnX code="abcd2345" link={LINK} />
    </QueryClientProvider>,
  );
}

beforeEach(() => {
  cleanup();
  queryClient.clear();
  answers.clear();
  vi.mocked(call)
    .mockReset()
    .mockImplementation(async (endpoint) => answers.get(endpoint));
});

test('if the server cannot post, links to X without mentioning the configuration', async () => {
  show('not_configured');
  const link = await screen.findByRole('link', { name: 'Share on X' });
  expect(screen.queryByText(/configured/)).toBeNull();
  expect(new URL(link.getAttribute('href') ?? '').searchParams.get('url')).toBe(LINK);
});

test('a failed account request can be retried, and X itself is still linked', async () => {
  vi.mocked(call).mockRejectedValue(new ApiError('The server is busy', { status: 409 }));
  show('not_connected');
  await screen.findByText('Your X account could not be loaded');
  expect(screen.getByText('The server is busy')).toBeTruthy();
  expect(screen.getByRole('link', { name: 'Share on X' })).toBeTruthy();
  vi.mocked(call).mockImplementation(async (endpoint) => answers.get(endpoint));
  await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
  expect(await screen.findByRole('button', { name: 'Connect X' })).toBeTruthy();
  expect(screen.queryByRole('link', { name: 'Share on X' })).toBeNull();
});

test('an X account must be connected first', async () => {
  show('not_connected');
  expect(await screen.findByRole('button', { name: 'Connect X' })).toBeTruthy();
});

test('posts the text from the connected account', async () => {
  show('connected');
  const message = await screen.findByLabelText('Post on X');
  screen.getByText(/^Posted as @ada/);
  await userEvent.clear(message);
  await userEvent.type(message, 'Come and bake');
  await userEvent.click(screen.getByRole('button', { name: 'Post on X' }));
  const posted = vi.mocked(call).mock.calls.find(([endpoint]) => endpoint === postReferralToX);
  expect(posted?.[1]).toMatchObject({ body: { message: 'Come and bake' } });
});

test('an invitation can only be posted once', async () => {
  show('connected', 'https://x.com/ada/status/1');
  const link = await screen.findByRole('link', { name: 'View the post' });
  expect(link.getAttribute('href')).toBe('https://x.com/ada/status/1');
  expect(screen.queryByRole('button')).toBeNull();
});
