import type { Asset } from '@bakehouse/contract/assets';
import { editRows } from '@bakehouse/contract/data-files';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { cleanup, render, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, test, vi } from 'vitest';
import { call } from '../../../../../lib/api/api-client.ts';
import { ApiError } from '../../../../../lib/api/api-error.ts';
import { previewQuery } from '../../../asset-calls.ts';
import { RowsPreview } from '../rows-preview.tsx';
import { columnsQuery, rowQuery, versionsQuery } from '../viewer-calls.ts';

vi.mock('../../../../../lib/api/api-client.ts', () => ({ call: vi.fn<typeof call>() }));

const never = new Promise<never>(() => undefined);
const file = { assetId: 'set', revisionId: 'first', path: 'd.jsonl' };
const rows = [
  ['Who?', 1],
  ['Where?', 2],
] as const;
const page = {
  ...{ columns: ['question', 'score'], column_count: 2, conversations: [], format: null },
  ...{ format_problem: null, total_rows: 2, broken: [], broken_count: 0 },
};
const wholeRow = ([question, score]: readonly [string, number]) => JSON.stringify({ question, score });

beforeEach(() => {
  sessionStorage.clear();
  vi.mocked(call).mockReset().mockReturnValue(never);
});

function show({ canChange = true, path = file.path } = {}) {
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } } });
  const shown = { ...file, path };
  client.setQueryData(columnsQuery(shown).queryKey, { rows: 2, is_whole: true, columns: [] });
  client.setQueryData(versionsQuery({ assetId: 'set', path, newest: 'first' }).queryKey, {
    pageParams: [null],
    pages: [{ versions: [], next_cursor: null }],
  });
  client.setQueryData(previewQuery({ ...shown, offset: 0 }).queryKey, {
    ...{ ...page, rows: rows.map((cells) => [...cells]), whole_row: null },
  });
  for (const [at, cells] of rows.entries())
    client.setQueryData(rowQuery({ ...shown, at }).queryKey, {
      ...{ ...page, rows: [[...cells]], whole_row: wholeRow(cells) },
    });
  const asset = {
    ...{ dataset_id: 'set', revision_id: 'first', next_files_cursor: null },
    files: [{ path, size_bytes: 10, sha256: '', uploaded_at: '2026-01-01T00:00:00.000Z' }],
  };
  return render(
    <QueryClientProvider client={client}>
      <RowsPreview
        asset={asset as unknown as Asset}
        canChange={canChange}
        place={{}}
        onPlace={() => undefined}
      />
    </QueryClientProvider>,
  );
}

const press = (name: string | RegExp) => userEvent.click(screen.getByRole('button', { name }));
const sent = () =>
  vi.mocked(call).mock.calls.flatMap(([endpoint, ...args]) => (endpoint === editRows ? [args] : []));
const changedRows = () =>
  within(screen.getByRole('table'))
    .getAllByRole('row')
    .map((row) => row.textContent);

async function type(column: string, text: string) {
  const field = screen.getByRole('textbox', { name: column });
  await userEvent.clear(field);
  await userEvent.click(field);
  await userEvent.paste(text);
}

async function changeFirstRow() {
  await press('Show row 1');
  await press('Edit row');
  await type('question', 'Who is it?');
  await press('Done');
  await userEvent.keyboard('{Escape}');
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
}

test('changes, deletes and adds rows, and saves them together', async () => {
  show();
  await changeFirstRow();
  await press('Show row 2');
  await press('Delete row');
  expect(screen.getByText('This row will be deleted when you save')).toBeTruthy();
  await userEvent.keyboard('{Escape}');
  await press('Add row');
  await type('question', 'When?');
  await press('Done');
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());

  expect(screen.getByText('3 changed rows, not saved yet')).toBeTruthy();
  expect(changedRows().slice(1)).toEqual(['1Who is it?1', '2Where?2', 'NewWhen?empty']);
  expect(screen.getByRole('button', { name: 'Show row 2, deleted' })).toBeTruthy();
  await press('Save as new version');
  expect(sent()).toEqual([
    [
      {
        params: { id: 'set' },
        body: {
          path: 'd.jsonl',
          revision_id: 'first',
          edits: [
            { at: 0, was: wholeRow(rows[0]), cells: '{"question":"Who is it?"}' },
            { at: 1, was: wholeRow(rows[1]), cells: null },
            { cells: '{"question":"When?"}' },
          ],
        },
      },
      expect.objectContaining({ idempotencyKey: expect.any(String) }),
    ],
  ]);
});

test('checks values that are JSON before it accepts them', async () => {
  show();
  await press('Show row 1');
  await press('Edit row');
  await type('score', 'one');
  await press('Done');
  expect(screen.getByText('Enter valid JSON, such as 4, true, null or ["a"]')).toBeTruthy();
  await type('score', '1.5');
  await press('Done');
  expect(screen.queryByRole('textbox', { name: 'score' })).toBeNull();
  await userEvent.keyboard('{Escape}');
  await waitFor(() => expect(changedRows()[1]).toBe('1Who?1.5'));
});

test('undoes and redoes with the keyboard, and keeps changes across a reload', async () => {
  show();
  await changeFirstRow();
  await userEvent.keyboard('{Control>}z{/Control}');
  expect(changedRows()[1]).toBe('1Who?1');
  expect(screen.getByText('No changes')).toBeTruthy();
  await userEvent.keyboard('{Control>}{Shift>}z{/Shift}{/Control}');
  expect(changedRows()[1]).toBe('1Who is it?1');
  cleanup();
  show();
  expect(changedRows()[1]).toBe('1Who is it?1');
  await press('Discard');
  expect(changedRows()[1]).toBe('1Who?1');
  expect(screen.queryByRole('region', { name: 'Changes' })).toBeNull();
});

test('keeps the changes if the file has changed, and saves on its newest revision next', async () => {
  show();
  await changeFirstRow();
  const stale = new ApiError('d.jsonl has changed', { status: 409, code: 'conflict', param: 'revision_id' });
  vi.mocked(call).mockImplementation((endpoint) => (endpoint === editRows ? Promise.reject(stale) : never));
  await press('Save as new version');
  expect((await screen.findByRole('alert')).textContent).toContain('Your changes are still here');
  expect(changedRows()[1]).toBe('1Who is it?1');
  await press('Save as new version');
  await waitFor(() => expect(sent()).toHaveLength(2));
  const keys = sent().map(([, options]) => (options as { idempotencyKey: string }).idempotencyKey);
  expect(keys[0]).not.toBe(keys[1]);
});

test.each([
  ['the dataset of another user', { canChange: false }],
  ['a format that cannot be edited', { path: 'd.json' }],
])('does not offer to edit %s', async (_, other) => {
  show(other);
  expect(screen.queryByRole('button', { name: 'Add row' })).toBeNull();
  await press('Show row 1');
  expect(screen.getByRole('button', { name: 'Row below' })).toBeTruthy();
  expect(screen.queryByRole('button', { name: 'Edit row' })).toBeNull();
});
