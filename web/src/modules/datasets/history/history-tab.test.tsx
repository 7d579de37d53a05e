import { compareCommits, listAssetCommits } from '@bakehouse/contract/asset-commits';
import { assetTree } from '@bakehouse/contract/assets';
import { linkFile } from '@bakehouse/contract/file-links';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { cleanup, fireEvent, render, screen, within } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { call } from '../../../lib/api/api-client.ts';
import { type HistoryLocation, HistoryTab } from './history-tab.tsx';

vi.mock('../../../lib/api/api-client.ts', () => ({ call: vi.fn<typeof call>() }));
vi.mock('../../../lib/api/download.ts');

const commit = (number: number, tags: string[] = []) => ({
  commit_id: String(number).repeat(40),
  revision_id: `r${number}`,
  number,
  message: `Change ${number}`,
  author: 'ada',
  created_at: '2026-01-01T00:00:00.000Z',
  tags,
});

const file = { sha256: '', size_bytes: 3, uploaded_at: '2026-01-01T00:00:00.000Z', type: 'file' };

beforeEach(() => {
  vi.mocked(call).mockImplementation(async (endpoint) => {
    if (endpoint === listAssetCommits)
      return { commits: [commit(2), commit(1, ['v1', 'release'])], next_cursor: null };
    if (endpoint === compareCommits)
      return {
        ...{ from: commit(1), to: commit(2, ['v2']), added_count: 0, removed_count: 1, changed_count: 0 },
        files: [{ path: 'old.bin', change: 'removed', size_before: 3, size_after: null }],
      };
    if (endpoint === assetTree)
      return {
        entries: [
          { type: 'folder', path: 'vae' },
          { ...file, path: 'config.json' },
        ],
        next_cursor: null,
      };
    return { url: '/file' };
  });
});
afterEach(cleanup);

function show(place: HistoryLocation, onPlace: (place: HistoryLocation) => void = () => undefined) {
  render(
    <QueryClientProvider client={new QueryClient()}>
      <HistoryTab
        asset={{ dataset_id: 'm', dataset_type: 'MODEL', revision_id: 'r2' } as never}
        place={place}
        onPlace={onPlace}
      />
    </QueryClientProvider>,
  );
}

test('shows tags at their commits', async () => {
  show({});
  const [newest, first] = within(await screen.findByRole('list', { name: 'Versions' })).getAllByRole(
    'listitem',
  );
  expect(newest?.textContent).not.toContain('Tag: ');
  expect(first?.textContent).toContain('Tag: v1Tag: release');
  cleanup();
  show({ commit: 'v2' });
  expect(await screen.findByText('v2')).toBeTruthy();
});

test('downloads files as of the commit, and a deleted file as of its parent', async () => {
  const onPlace = vi.fn<(place: HistoryLocation) => void>();
  const place = { commit: commit(2).commit_id };
  show(place, onPlace);
  fireEvent.click(await screen.findByRole('button', { name: 'Download config.json' }));
  const asked = (path: string, revision_id: string) => ({
    params: { id: 'm' },
    query: { path, revision_id },
  });
  expect(call).toHaveBeenLastCalledWith(linkFile, asked('config.json', 'r2'));
  fireEvent.click(screen.getByRole('button', { name: 'Download' }));
  expect(call).toHaveBeenLastCalledWith(linkFile, asked('old.bin', 'r1'));
  fireEvent.click(screen.getByRole('button', { name: 'vae' }));
  expect(onPlace).toHaveBeenCalledWith({ ...place, folder: 'vae' });
});
