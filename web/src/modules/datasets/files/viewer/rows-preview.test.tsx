import type { Asset } from '@bakehouse/contract/assets';
import { searchRows } from '@bakehouse/contract/data-files';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { act, cleanup, fireEvent, render, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { afterEach, expect, test, vi } from 'vitest';
import { call } from '../../../../lib/api/api-client.ts';
import { previewQuery } from '../../asset-calls.ts';
import type { RowsLocation } from './rows-location.ts';
import { RowsPreview } from './rows-preview.tsx';
import { columnsQuery, rowQuery, versionsQuery } from './viewer-calls.ts';

vi.mock('../../../../lib/api/api-client.ts', () => ({
  call: vi.fn<typeof call>(() => new Promise(() => undefined)),
}));

const asset: Asset = {
  dataset_id: 'set',
  dataset_type: 'RAW',
  title: 'Facts',
  category: '',
  details: '',
  tags: [],
  user_id: 'ada',
  owner_username: 'ada',
  is_starter: false,
  starter_task: null,
  pipeline: null,
  ...{ is_published: false, is_shared: false, use_ipfs: false },
  price: '0',
  embedding_model: '',
  dimensions: 0,
  base_model_type: null,
  family: '',
  parent_dataset_id: null,
  is_whole: false,
  file_count: 1,
  size_bytes: 10,
  revision_id: 'first',
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-01T00:00:00.000Z',
  files: [{ path: 'd.csv', size_bytes: 10, sha256: '', uploaded_at: '2026-01-01T00:00:00.000Z' }],
  next_files_cursor: null,
  card: null,
  lineage: null,
  source: null,
  downloads: 0,
  card_metadata: null,
  repo_id: 'ada/Facts',
};

const file = { assetId: 'set', revisionId: 'first', path: 'd.csv' };
const question = {
  name: 'question',
  type: 'text',
  filled: 2,
  nulls: 1,
  distinct: 2,
  distinct_is_more: false,
  numbers: null,
  lengths: { min: 3, max: 10, mean: 6.5, median: 6, std: 3.5 },
  histogram: [
    { from: 3, to: 6, count: 1 },
    { from: 7, to: 10, count: 1 },
  ],
  frequent: [],
} as const;

function show(answer: object, place: RowsLocation = {}, other: Partial<Asset> = {}) {
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } } });
  client.setQueryData(columnsQuery(file).queryKey, {
    rows: 4,
    is_whole: false,
    columns: [{ ...question, frequent: [], histogram: [...question.histogram] }],
  });
  client.setQueryData(versionsQuery({ assetId: 'set', path: 'd.csv', newest: 'first' }).queryKey, {
    pageParams: [null],
    pages: [
      {
        versions: ['first', 'zeroth'].map((revision_id, at) => ({
          revision_id,
          number: 2 - at,
          created_at: asset.created_at,
          sha256: '',
          size_bytes: 10,
        })),
        next_cursor: null,
      },
    ],
  });
  const { queryKey } = previewQuery({ ...file, offset: place.offset ?? 0 });
  client.setQueryData(queryKey, {
    columns: ['question', 'answer'],
    column_count: 2,
    rows: [],
    total_rows: 0,
    broken: [],
    broken_count: 0,
    format: null,
    format_problem: null,
    conversations: [],
    whole_row: null,
    ...answer,
  });
  render(
    <QueryClientProvider client={client}>
      <Placed asset={{ ...asset, ...other }} place={place} />
    </QueryClientProvider>,
  );
  return { client, queryKey };
}

const placed = vi.fn<(place: RowsLocation) => void>();

/** Keeps the place in state, as the page does in its URL. */
function Placed({ asset: shown, place }: { asset: Asset; place: RowsLocation }) {
  const [current, setCurrent] = useState(place);
  placed.mockImplementation(setCurrent);
  return <RowsPreview asset={shown} canChange={false} place={current} onPlace={placed} />;
}

afterEach(() => {
  cleanup();
  placed.mockReset();
});

test.each([
  [
    'no row can be read',
    { broken: [{ line: 2, reason: 'Quote is not closed' }], broken_count: 1 },
    'This file has no rows that can be read',
  ],
  ['there is only a header', {}, 'This file has only a header'],
  ['the file is empty', { columns: [], column_count: 0 }, 'This file is empty'],
])('shows a message if %s', (_case, answer, text) => {
  show(answer);
  expect(screen.getByText(text)).toBeTruthy();
  expect(screen.queryByRole('region', { name: 'Rows' })).toBeNull();
});

test('keeps displayed rows if reloading fails', async () => {
  const { client, queryKey } = show({ rows: [['Who bakes?', 'Ada.']], total_rows: 1 });
  const failing = { queryKey, queryFn: () => Promise.reject(new Error('no answer')), retry: false };
  await act(() => client.fetchQuery({ ...failing, staleTime: 0 }).catch(() => undefined));
  expect(screen.getByText('Who bakes?')).toBeTruthy();
  expect(await screen.findByText(/Refreshing failed: no answer/)).toBeTruthy();
});

test('reports how many columns and broken rows are not shown', () => {
  show({
    columns: ['a…', 'a…'],
    column_count: 80_000,
    rows: [['1', null]],
    total_rows: 1,
    broken: Array.from({ length: 100 }, (_, at) => ({ line: at + 2, reason: 'not JSON' })),
    broken_count: 1250,
  });
  expect(screen.getByText(/the first 2 of 80,000 columns/)).toBeTruthy();
  expect(screen.getByText('1,250 rows could not be read')).toBeTruthy();
  expect(screen.getByText('and 1,245 more')).toBeTruthy();
});

test('renders a conversation turn by turn in its cell', () => {
  show({
    columns: ['id', 'messages'],
    rows: [
      [1, '[{"role":"user"…'],
      [2, 'no list'],
    ],
    total_rows: 2,
    format: { format: 'messages', input_column: 'messages', output_column: '', system_column: null },
    conversations: [
      {
        turns: [
          { role: 'user', content: 'Who bakes?' },
          { role: 'assistant', content: 'Ada.' },
        ],
        turn_count: 5,
      },
      { turns: [], turn_count: 0 },
    ],
  });
  expect(
    within(screen.getByRole('region', { name: 'Rows' }).querySelector('tbody') as HTMLElement)
      .getAllByRole('listitem')
      .map(({ textContent }) => textContent),
  ).toEqual(['UserWho bakes?', 'AssistantAda.', 'and 3 more turns']);
  expect(screen.queryByText(/"role"/)).toBeNull();
  expect(screen.getByText('no list')).toBeTruthy();
});

const rows = [
  ['Who bakes?', 'Ada.'],
  ['Why?', null],
];

test('column heads show a summary, and the column view the number of rows', () => {
  show({ rows, total_rows: 2 });
  const [, head] = screen.getAllByRole('columnheader');
  if (!head) throw new Error('a head expected');
  expect(
    within(head)
      .getAllByRole('listitem')
      .map(({ title }) => title),
  ).toEqual(['3 to 6 characters: 1 row', '7 to 10 characters: 1 row']);
  expect(head.textContent).toContain('3 to 10 characters');
  expect(head.textContent).toContain('text, 50% filled');
  fireEvent.click(screen.getByRole('button', { name: 'Columns' }));
  expect(screen.getByText('Based on the first 4 rows; the file has more.')).toBeTruthy();
  expect(screen.getByText('50% (2)')).toBeTruthy();
  expect(screen.getByText('2 values')).toBeTruthy();
});

test('opens a row in full, and arrow keys move to adjacent rows', () => {
  const { client } = show({ rows, total_rows: 2 });
  const long = 'Because '.repeat(400);
  for (const [at, whole_row] of [
    `{"question":"Who bakes?","answer":"Ada."}`,
    `{"question":"${long}","list":[1]}`,
  ].entries()) {
    const columns = at === 0 ? ['question', 'answer'] : ['question', 'list'];
    client.setQueryData(rowQuery({ ...file, at }).queryKey, {
      columns,
      column_count: 2,
      rows: [['cut…', null]],
      total_rows: 2,
      broken: [],
      broken_count: 0,
      format: null,
      format_problem: null,
      conversations: [],
      whole_row,
    });
  }
  fireEvent.click(screen.getByRole('button', { name: 'Show row 1' }));
  const sheet = () => within(screen.getByRole('dialog'));
  expect(sheet().getByText('Row 1')).toBeTruthy();
  expect(sheet().getByText('Ada.')).toBeTruthy();
  for (const key of ['shiftKey', 'altKey', 'ctrlKey', 'metaKey']) {
    const press = { key: 'ArrowDown', [key]: true };
    // The event is not handled, so the browser's default applies.
    expect(fireEvent.keyDown(sheet().getByRole('button', { name: 'Row below' }), press)).toBe(true);
  }
  expect(sheet().getByText('Row 1')).toBeTruthy();
  fireEvent.keyDown(sheet().getByRole('button', { name: 'Row below' }), { key: 'ArrowUp' });
  expect(sheet().getByText('Row 1')).toBeTruthy();
  fireEvent.keyDown(sheet().getByRole('button', { name: 'Row below' }), { key: 'ArrowDown' });
  expect(sheet().getByText('Row 2')).toBeTruthy();
  expect(sheet().getByText(long.trim())).toBeTruthy();
  expect(sheet().getByText(/^\[\s+1\s+\]$/)).toBeTruthy();
  expect(sheet().getByRole('button', { name: 'Copy as JSON' })).toBeTruthy();
  fireEvent.keyDown(sheet().getByRole('button', { name: 'Row below' }), { key: 'ArrowDown' });
  expect(sheet().getByText('Row 2')).toBeTruthy();
});

test('the URL contains the first row and the columns view', () => {
  const page = { rows: Array.from({ length: 100 }, (_, at) => [`question ${at}`, '']), total_rows: 12_345 };
  show(page, { file: 'd.csv', offset: 10_000 });
  expect(screen.getByText('Rows 10,001 to 10,100 of 12,345')).toBeTruthy();
  expect(screen.getByRole('button', { name: 'Show row 10,001' }).textContent).toBe('10,001');
  fireEvent.click(screen.getByRole('button', { name: 'Later rows' }));
  expect(placed).toHaveBeenLastCalledWith({ file: 'd.csv', offset: 10_100 });
  fireEvent.click(screen.getByRole('button', { name: 'Columns' }));
  expect(placed).toHaveBeenLastCalledWith({ file: 'd.csv', offset: 10_100, view: 'columns' });
  expect(screen.getByText('Based on the first 4 rows; the file has more.')).toBeTruthy();
});

test('rows keep their numbers until the next page arrives, which scrolls to its top', async () => {
  const rowsFrom = (first: number) => ({
    rows: Array.from({ length: 100 }, (_, at) => [`question ${first + at}`, '']),
    total_rows: 12_345,
  });
  const { client, queryKey } = show(rowsFrom(0));
  fireEvent.click(screen.getByRole('button', { name: 'Later rows' }));
  const region = screen.getByRole('region', { name: 'Rows' });
  const numberOf = (text: string) => screen.getByText(text).closest('tr')?.querySelector('td')?.textContent;
  expect(region.getAttribute('aria-busy')).toBe('true');
  expect(numberOf('question 7')).toBe('8');
  expect(screen.getByText('Rows 1 to 100 of 12,345')).toBeTruthy();
  // A second click while loading requests the page after the next one.
  fireEvent.click(screen.getByRole('button', { name: 'Later rows' }));
  expect(placed).toHaveBeenLastCalledWith({ offset: 200 });

  region.scrollTop = 900;
  act(() => {
    client.setQueryData(previewQuery({ ...file, offset: 200 }).queryKey, {
      ...client.getQueryData<object>(queryKey),
      ...rowsFrom(200),
    } as never);
  });
  expect(await screen.findByText('Rows 201 to 300 of 12,345')).toBeTruthy();
  expect(numberOf('question 207')).toBe('208');
  expect(region.getAttribute('aria-busy')).toBe('false');
  expect(region.scrollTop).toBe(0);
});

test('while text is selected, Enter opens a row and a click does not', () => {
  show({ rows, total_rows: 2 });
  const cell = screen.getByText('Who bakes?');
  window.getSelection()?.selectAllChildren(cell);
  fireEvent.click(cell);
  expect(screen.queryByRole('dialog')).toBeNull();
  // The browser turns Enter on a button into a click.
  fireEvent.click(screen.getByRole('button', { name: 'Show row 1' }));
  expect(within(screen.getByRole('dialog')).getByText('Row 1')).toBeTruthy();
  window.getSelection()?.removeAllRanges();
});

test('marks an earlier revision', () => {
  show({ rows, total_rows: 2 });
  expect(screen.getByRole('combobox', { name: 'Version' }).textContent).toContain('Version 2 (newest)');
  cleanup();
  show({ rows, total_rows: 2 }, { revision: 'zeroth' });
  expect(screen.getByRole('combobox', { name: 'Version' }).textContent).toContain('Version 1');
  expect(screen.getByText(/an earlier version of the file/)).toBeTruthy();
});

test('shows an unlisted file of the asset, and finds another by name', async () => {
  vi.mocked(call).mockImplementation(async (_endpoint, input) => {
    const { prefix } = (input as { query: { prefix?: string } }).query;
    return prefix === undefined
      ? Promise.reject(new Error('unexpected request'))
      : { files: [{ path: 'parts/900.csv', size_bytes: 1, sha256: '', uploaded_at: '' }], next_cursor: null };
  });
  show({ rows, total_rows: 2 }, { file: 'parts/700.csv' }, { next_files_cursor: 'more' });
  const field = screen.getByRole<HTMLInputElement>('combobox', { name: 'File' });
  expect(field.value).toBe('parts/700.csv');
  await userEvent.clear(field);
  expect(placed).not.toHaveBeenCalled();
  await userEvent.type(field, 'parts/');
  await userEvent.click(await screen.findByRole('option', { name: /parts\/900\.csv/ }));
  expect(placed).toHaveBeenCalledWith({ file: 'parts/900.csv', view: undefined });
});

test('offers unlisted files if no listed file has rows', () => {
  const photo = { path: 'a.png', size_bytes: 1, sha256: '', uploaded_at: '' };
  show({}, {}, { files: [photo], next_files_cursor: 'more' });
  expect(screen.getByText('No rows to show')).toBeTruthy();
  expect(screen.getByText(/^None of the first files contain rows/)).toBeTruthy();
  expect(screen.getByRole('combobox', { name: 'File' })).toBeTruthy();
});

/** Returns the result of one search request. */
function looked({ text, offset }: { text: string; offset: number }) {
  if (text !== 'rye') return { rows: [], at: [], rows_read: 3, is_whole: true, next_offset: null };
  const [at, asked] = offset === 0 ? [40_999, 'Which flour?'] : [79_999, 'Which grain?'];
  const next = { rows_read: at + 10_001, is_whole: offset > 0, next_offset: offset === 0 ? 51_000 : null };
  return { rows: [[asked, 'Rye.']], at: [at], ...next };
}

test('a search shows matching rows with their numbers and its progress, and is in the URL', async () => {
  vi.mocked(call).mockImplementation(async (endpoint: unknown, input: unknown) =>
    endpoint === searchRows
      ? {
          columns: ['question', 'answer'],
          column_count: 2,
          ...looked((input as { query: { text: string; offset: number } }).query),
          format: null,
          format_problem: null,
          conversations: [],
        }
      : new Promise(() => undefined),
  );
  show({ rows: [['Who bakes?', 'Ada.']], total_rows: 70_001 });
  const box = screen.getByRole('searchbox', { name: 'Search the rows' });
  await userEvent.type(box, 'rye');
  await screen.findByText('Which flour?');
  expect(placed).toHaveBeenLastCalledWith({ search: 'rye' });
  expect(screen.getByRole('button', { name: 'Show row 41,000' })).toBeTruthy();
  expect(screen.queryByText('Who bakes?')).toBeNull();
  screen.getByText('1 row found. The first 51,000 rows were searched so far.');
  await userEvent.click(screen.getByRole('button', { name: 'Keep searching' }));
  await screen.findByRole('button', { name: 'Show row 80,000' });
  screen.getByText('2 rows found. All 90,000 rows were searched.');
  expect(screen.queryByRole('button', { name: 'Keep searching' })).toBeNull();

  await userEvent.type(box, ' bread');
  await screen.findByText('No rows found');
  screen.getByText('All 3 rows were searched.');
  await userEvent.click(screen.getByRole('button', { name: 'Clear the search' }));
  await screen.findByText('Who bakes?');
});

test('leaving a search cancels it', async () => {
  let signal: AbortSignal | undefined;
  vi.mocked(call).mockImplementation(((
    endpoint: unknown,
    _input: unknown,
    options: { signal: AbortSignal },
  ) => {
    if (endpoint === searchRows) ({ signal } = options);
    return new Promise(() => undefined);
  }) as unknown as typeof call);
  show({ rows: [['Who bakes?', 'Ada.']], total_rows: 1 }, { search: 'rye' });
  await vi.waitFor(() => expect(signal?.aborted).toBe(false));
  await userEvent.click(screen.getByRole('button', { name: 'Clear the search' }));
  expect(signal?.aborted).toBe(true);
});
