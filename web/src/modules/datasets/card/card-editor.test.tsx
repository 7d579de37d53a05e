import { getCard, saveCard } from '@bakehouse/contract/asset-commits';
import { QueryClientProvider } from '@tanstack/react-query';
import { act, cleanup, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { call } from '../../../lib/api/api-client.ts';
import { ApiError } from '../../../lib/api/api-error.ts';
import { queryClient } from '../../../lib/api/query-client.ts';
import { CardEditor } from './card-editor.tsx';

vi.mock('../../../lib/api/api-client.ts', () => ({ call: vi.fn<typeof call>() }));

const OLD = '---\nlicense: mit\n---\n# Facts\n';
/** The server's card, and its answer to a save. */
let stored: { content: string; is_whole: boolean; commit_id: string };
let saved: unknown[];
let refusal: ApiError | null;

// Loaded up front, so that tests do not depend on load time.
beforeAll(() => import('../../../ui/markdown-content.tsx'));

beforeEach(() => {
  cleanup();
  queryClient.clear();
  stored = { content: OLD, is_whole: true, commit_id: 'a'.repeat(40) };
  [saved, refusal] = [[], null];
  vi.mocked(call).mockImplementation((endpoint: unknown, input: unknown) => {
    if (endpoint === getCard) return Promise.resolve(stored);
    if (endpoint !== saveCard) throw new Error('Nothing else is called');
    saved.push(input);
    return refusal ? Promise.reject(refusal) : Promise.resolve({});
  });
});

function open(onClose: () => void = () => undefined) {
  const asset = { dataset_id: 'd1', dataset_type: 'RAW', title: 'Facts', tags: ['rye'] } as never;
  render(
    <QueryClientProvider client={queryClient}>
      <CardEditor asset={asset} onClose={onClose} />
    </QueryClientProvider>,
  );
  return screen.findByLabelText<HTMLTextAreaElement>('README.md');
}

test('edits a card including its metadata, and saves it on the commit that was read', async () => {
  const onClose = vi.fn<() => void>();
  const text = await open(onClose);
  expect(text.value).toBe(OLD);
  await userEvent.type(text, 'More.');
  // Suspended components continue only inside an awaited `act`.
  await act(async () => screen.getByRole('button', { name: 'Preview' }).click());
  expect(await screen.findByText('More.')).toBeDefined();
  expect(screen.queryByText(/license: mit/)).toBeNull();
  await userEvent.type(screen.getByLabelText('Change summary'), 'Say more');
  await userEvent.click(screen.getByRole('button', { name: 'Save' }));
  expect(saved).toEqual([
    {
      params: { id: 'd1' },
      body: { content: `${OLD}More.`, message: 'Say more', parent_commit: 'a'.repeat(40) },
    },
  ]);
  await vi.waitFor(() => expect(onClose).toHaveBeenCalledOnce());
});

test('an empty card starts with a template', async () => {
  stored = { ...stored, content: '' };
  const text = await open();
  expect(text.value).toContain('# Facts');
  expect(text.value).toContain('- "rye"');
});

test('reports that the files have changed, and keeps the text', async () => {
  const text = await open();
  await userEvent.type(text, 'Mine.');
  refusal = new ApiError('The files have changed', { status: 409, code: 'conflict' });
  await userEvent.click(screen.getByRole('button', { name: 'Save' }));
  expect(await screen.findByText('The files have changed')).toBeDefined();
  expect(text.value).toBe(`${OLD}Mine.`);
});

test('asks before discarding the text', async () => {
  const onClose = vi.fn<() => void>();
  await userEvent.type(await open(onClose), 'Mine.');
  await userEvent.keyboard('{Escape}');
  await screen.findByRole('alertdialog', { name: 'Discard what you entered?' });
  expect(onClose).not.toHaveBeenCalled();
});

test('shows an error next to the text', async () => {
  const text = await open();
  await userEvent.type(text, 'Mine.');
  refusal = new ApiError('The metadata of the card cannot be read', { status: 400, code: 'invalid_request' });
  await userEvent.click(screen.getByRole('button', { name: 'Save' }));
  expect(await screen.findByText('The metadata of the card cannot be read')).toBeDefined();
});

test('does not truncate a card that is too long to edit', async () => {
  stored = { ...stored, is_whole: false };
  void open().catch(() => undefined);
  expect(await screen.findByText('This card is too long to edit here')).toBeDefined();
});
