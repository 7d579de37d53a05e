import { listShares, shareAsset, unshareAsset } from '@bakehouse/contract/asset-shares';
import { updateAsset } from '@bakehouse/contract/assets';
import { QueryClientProvider } from '@tanstack/react-query';
import { cleanup, render, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, test, vi } from 'vitest';
import { call } from '../../../lib/api/api-client.ts';
import { ApiError } from '../../../lib/api/api-error.ts';
import { queryClient } from '../../../lib/api/query-client.ts';
import { SharingDialog } from './sharing-dialog.tsx';
import { VisibilityBadge } from './visibility-badge.tsx';

vi.mock('../../../lib/api/api-client.ts', () => ({ call: vi.fn<typeof call>() }));

const asset = { dataset_id: 'd1', title: 'Rye', is_published: false, is_shared: true } as never;
const shared = (username: string) => ({ username, shared_at: '2026-01-01T00:00:00.000Z' });

let shares: ReturnType<typeof shared>[];
beforeEach(() => {
  cleanup();
  queryClient.clear();
  shares = [shared('bob')];
  vi.mocked(call).mockReset();
  vi.mocked(call).mockImplementation(async (...args: unknown[]) => {
    const [endpoint, input] = args as [
      unknown,
      { params: { username?: string }; body?: { username: string } },
    ];
    if (endpoint === unshareAsset)
      shares = shares.filter(({ username }) => username !== input.params.username);
    if (endpoint === shareAsset) {
      const { username = '' } = input.body ?? {};
      if (username === 'nobody') throw new ApiError('No user has the username nobody', { status: 400 });
      shares = [...shares, shared(username)];
    }
    return { shares };
  });
});

const open = () =>
  render(
    <QueryClientProvider client={queryClient}>
      <SharingDialog asset={asset} kind="dataset" onClose={() => undefined} />
    </QueryClientProvider>,
  );
const sent = (endpoint: unknown) =>
  vi.mocked(call).mock.calls.flatMap(([called, input]) => (called === endpoint ? [input] : []));

test('publishing is a single choice with an explanation', async () => {
  open();
  const published = await screen.findByRole('radio', { name: 'Published' });
  expect(screen.getByText(/^Every user can find/)).toBeTruthy();
  await userEvent.click(published);
  expect(sent(updateAsset)).toEqual([{ params: { id: 'd1' }, body: { is_published: true } }]);
});

test('adds a user by name and removes them again', async () => {
  open();
  expect(await screen.findByText('bob')).toBeTruthy();
  await userEvent.type(screen.getByRole('textbox', { name: 'Share with' }), ' cy {Enter}');
  const list = await screen.findByRole('list', { name: 'Shared with' });
  expect(await within(list).findByText('cy')).toBeTruthy();
  expect(sent(shareAsset)).toEqual([{ params: { id: 'd1' }, body: { username: 'cy' } }]);
  await userEvent.click(within(list).getByRole('button', { name: 'Stop sharing with bob' }));
  expect(sent(unshareAsset)).toEqual([{ params: { id: 'd1', username: 'bob' } }]);
  await vi.waitFor(() => expect(screen.queryByText('bob')).toBeNull());
  expect(sent(listShares).length).toBeGreaterThan(1);
});

test('shows an unknown name below the field, and keeps it', async () => {
  open();
  const field = await screen.findByRole<HTMLInputElement>('textbox', { name: 'Share with' });
  await userEvent.type(field, '{Enter}');
  expect(await screen.findByText('Enter a username')).toBeTruthy();
  await userEvent.type(field, 'nobody{Enter}');
  expect(await screen.findByText('No user has the username nobody')).toBeTruthy();
  expect(field.value).toBe('nobody');
});

test.each([
  [{ is_published: false, is_shared: false }, true, 'Private'],
  [{ is_published: false, is_shared: true }, true, 'Shared'],
  [{ is_published: true, is_shared: true }, true, 'Published'],
  [{ is_published: true, is_shared: true }, false, 'Published'],
  [{ is_published: false, is_shared: true }, false, 'Shared with you'],
  [{ is_published: false, is_shared: false }, false, ''],
])('the badge of %o, own: %s, is ‘%s’', (one, isOwn, text) => {
  const { container } = render(<VisibilityBadge asset={one as never} isOwn={isOwn} />);
  expect(container.textContent).toBe(text);
});
