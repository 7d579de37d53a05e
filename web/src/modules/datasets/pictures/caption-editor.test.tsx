import { getCaptions, saveCaptions } from '@bakehouse/contract/captions';
import { listFilePictures } from '@bakehouse/contract/data-files';
import { QueryClientProvider } from '@tanstack/react-query';
import { cleanup, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, test, vi } from 'vitest';
import { call } from '../../../lib/api/api-client.ts';
import { ApiError } from '../../../lib/api/api-error.ts';
import { queryClient } from '../../../lib/api/query-client.ts';
import { CaptionEditor } from './caption-editor.tsx';

vi.mock('../../../lib/api/api-client.ts', () => ({ call: vi.fn<typeof call>() }));

const caption = (path: string, text: string) => ({ path, line: null, text });
/** The server's captions, and its answer to a save. */
let stored: { commit_id: string; captions: ReturnType<typeof caption>[] };
let saved: unknown[];
let refusal: ApiError | null;

beforeEach(() => {
  cleanup();
  queryClient.clear();
  stored = { commit_id: 'a'.repeat(40), captions: [caption('a.png', 'a ball'), caption('b.png', '')] };
  [saved, refusal] = [[], null];
  vi.mocked(call).mockImplementation((endpoint: unknown, input: unknown) => {
    if (endpoint === getCaptions) return Promise.resolve({ revision_id: 'r1', file_name: null, ...stored });
    if (endpoint === listFilePictures)
      return Promise.resolve({ pictures: [{ path: 'a.png', thumbnail: 'data:,' }], next_cursor: null });
    if (endpoint !== saveCaptions) throw new Error('Nothing else is called');
    saved.push((input as { body: unknown }).body);
    return refusal ? Promise.reject(refusal) : Promise.resolve({ commit_id: 'c' });
  });
});

function open(onClose: () => void = () => undefined) {
  render(
    <QueryClientProvider client={queryClient}>
      <CaptionEditor datasetId="d1" trigger="zwk" onClose={onClose} />
    </QueryClientProvider>,
  );
  return screen.findByLabelText<HTMLTextAreaElement>('b.png');
}

test('shows how many are missing, and saves all changes as one commit', async () => {
  const onClose = vi.fn<() => void>();
  const field = await open(onClose);
  expect(screen.getByText('1 of 2 pictures has no caption.')).toBeTruthy();
  expect(screen.getAllByText('No caption')).toHaveLength(1);
  expect(screen.getByRole('button', { name: 'Save' })).toHaveProperty('disabled', true);
  await userEvent.type(field, 'a tree');
  expect(screen.getByText('All 2 pictures have a caption.')).toBeTruthy();
  await userEvent.click(screen.getByRole('button', { name: 'Add to all' }));
  await userEvent.click(screen.getByRole('button', { name: 'Save 2 captions' }));
  expect(saved).toEqual([
    {
      captions: [caption('a.png', 'zwk, a ball'), caption('b.png', 'zwk, a tree')],
      parent_commit: 'a'.repeat(40),
    },
  ]);
  await vi.waitFor(() => expect(onClose).toHaveBeenCalledOnce());
});

test('after a conflict it saves on the current commit without losing text', async () => {
  await userEvent.type(await open(), 'mine');
  refusal = new ApiError('Its files have changed', { status: 412, code: 'precondition_failed' });
  stored = { commit_id: 'b'.repeat(40), captions: [caption('a.png', 'theirs'), caption('b.png', '')] };
  await userEvent.click(screen.getByRole('button', { name: 'Save 1 caption' }));
  await vi.waitFor(() => expect(screen.getByLabelText('a.png')).toHaveProperty('value', 'theirs'));
  expect(screen.getByLabelText('b.png')).toHaveProperty('value', 'mine');
  expect(screen.getByText(/^The files have changed since you started/)).toBeTruthy();
  refusal = null;
  await userEvent.click(screen.getByRole('button', { name: 'Save 1 caption' }));
  expect(saved.at(-1)).toEqual({ captions: [caption('b.png', 'mine')], parent_commit: 'b'.repeat(40) });
});

test('shows that a dataset has no pictures', async () => {
  stored = { ...stored, captions: [] };
  void open().catch(() => undefined);
  expect(await screen.findByText('No pictures')).toBeTruthy();
});
