import type { Asset, AssetFile } from '@bakehouse/contract/assets';
import { QueryClientProvider } from '@tanstack/react-query';
import { renderHook, waitFor } from '@testing-library/react';
import { beforeEach, expect, test, vi } from 'vitest';
import { call } from '../../../lib/api/api-client.ts';
import { ApiError } from '../../../lib/api/api-error.ts';
import { queryClient } from '../../../lib/api/query-client.ts';
import { checkFiles } from './check-files.ts';
import { useFileProblems } from './use-file-problems.ts';

vi.mock('../../../lib/api/api-client.ts', () => ({ call: vi.fn<typeof call>() }));

const good = {
  ...{ columns: ['q'], rows: [['1']], total_rows: 1, broken: [], broken_count: 0 },
  ...{ format: null, format_problem: null },
};
const broken = { ...good, broken: [{ line: 7, reason: '1 field instead of 2' }], broken_count: 1 };
let answers: Record<string, () => unknown> = {};
beforeEach(() => {
  queryClient.clear();
  vi.mocked(call).mockReset();
  vi.mocked(call).mockImplementation(async (_endpoint, input) =>
    (answers[(input as { query: { path: string } }).query.path] ?? (() => good))(),
  );
});

const files = (...paths: string[]) =>
  paths.map((path) => ({ path, sha256: `of ${path}`, size_bytes: 1, uploaded_at: '' }));
const assetWith = (revision_id: string, listed: AssetFile[], more: string | null = null) =>
  ({ dataset_id: 'd1', revision_id, files: listed, next_files_cursor: more }) as Asset;
const open = (asset: Asset, others: AssetFile[] = []) =>
  renderHook(() => useFileProblems(asset, others), {
    wrapper: ({ children }) => <QueryClientProvider client={queryClient}>{children}</QueryClientProvider>,
  });

test('lists each file that cannot be trained on whenever the files are displayed', async () => {
  const refused = new ApiError('b.csv is not UTF-8 text.', { status: 400, code: 'invalid_request' });
  answers = { 'a.csv': () => broken, 'b.csv': () => Promise.reject(refused) };
  const asset = assetWith('r1', files('a.csv', 'b.csv', 'c.csv', 'README.md'));
  const problems = [
    { path: 'a.csv', problem: expect.stringContaining('1 row cannot be read. Line 7') },
    { path: 'b.csv', problem: 'b.csv is not UTF-8 text.' },
  ];
  const first = open(asset);
  expect(first.result.current.isKnown).toBe(false);
  await waitFor(() => expect(first.result.current).toEqual({ problems, isKnown: true }));
  expect(call).toHaveBeenCalledTimes(3);
  first.unmount();
  // The same bytes are not read again, not even for the next revision.
  expect(open(assetWith('r2', asset.files)).result.current).toEqual({ problems, isKnown: true });
  expect(call).toHaveBeenCalledTimes(3);
});

test('reads two files at a time and reports their problems together', async () => {
  const { promise: slow, resolve } = Promise.withResolvers<object>();
  answers = { 'a.csv': () => slow, 'b.csv': () => slow, 'd.csv': () => broken };
  const { result } = open(assetWith('r1', files('a.csv', 'b.csv', 'c.csv', 'd.csv', 'e.csv')));
  await waitFor(() => expect(call).toHaveBeenCalled());
  await Promise.resolve();
  expect(call).toHaveBeenCalledTimes(2);
  resolve(broken);
  await waitFor(() => expect(result.current.problems).toHaveLength(3));
  expect(call).toHaveBeenCalledTimes(5);
});

test('reports no problems until all files are checked', async () => {
  const { promise: slow, resolve } = Promise.withResolvers<object>();
  answers = { 'a.csv': () => broken, 'b.csv': () => slow, 'c.csv': () => broken };
  const { result } = open(assetWith('r1', files('a.csv', 'b.csv', 'c.csv')));
  await waitFor(() => expect(queryClient.getQueryData(['file-problem', 'c.csv', 'of c.csv'])).toBeTruthy());
  expect(result.current.problems).toEqual([]);
  resolve(good);
  await waitFor(() => expect(result.current.problems).toHaveLength(2));
});

test('reports a gzip file as unsuitable for training', async () => {
  const problem = 'a.csv.gz is packed with gzip. Unpack it and upload it again.';
  answers = { 'a.csv.gz': () => ({ ...good, format: { format: 'alpaca' }, format_problem: problem }) };
  const { result } = open(assetWith('r1', files('a.csv.gz')));
  await waitFor(() => expect(result.current.problems).toEqual([{ path: 'a.csv.gz', problem }]));
});

test('does not report an unreachable server as a file problem', async () => {
  answers = {
    'a.csv': () => broken,
    'b.csv': () => Promise.reject(new ApiError('Not found', { status: 404, code: 'not_found' })),
  };
  const { result } = open(assetWith('r1', files('a.csv', 'b.csv')));
  await waitFor(() => expect(result.current.problems).toEqual([expect.objectContaining({ path: 'a.csv' })]));
});

test('reads the first of many files, and newly uploaded ones', async () => {
  const many = Array.from({ length: 30 }, (_, at) => `${String(at).padStart(2, '0')}.csv`);
  answers = { '07.csv': () => broken, '08.csv': () => broken, '29.csv': () => broken };
  const { result } = open(assetWith('r1', files(...many)), files('29.csv'));
  await waitFor(() => expect(result.current.problems.map(({ path }) => path)).toEqual(['07.csv', '29.csv']));
  expect(call).toHaveBeenCalledTimes(9);
});

test('reads an uploaded file that the asset does not list, unless it was deleted', async () => {
  answers = { 'z.csv': () => broken };
  const cut = open(assetWith('r1', files('a.csv'), 'more'), files('z.csv'));
  await waitFor(() => expect(cut.result.current.problems.map(({ path }) => path)).toEqual(['z.csv']));
  expect(open(assetWith('r2', files('a.csv')), files('z.csv')).result.current.problems).toEqual([]);
});

test('checks the uploaded version of a file', async () => {
  answers = { 'z.csv': () => broken };
  const arrived = files('y.csv', 'z.csv', 'README.md').map((file, at) => ({ file, revision_id: `r${at}` }));
  expect(await checkFiles('d1', arrived)).toEqual([expect.objectContaining({ path: 'z.csv' })]);
  expect(vi.mocked(call).mock.calls.map(([, input]) => (input as { query: object }).query)).toEqual([
    expect.objectContaining({ path: 'y.csv', revision_id: 'r0' }),
    expect.objectContaining({ path: 'z.csv', revision_id: 'r1' }),
  ]);
});

test('checks a file although the rows, which share its read, are closed', async () => {
  answers = { 'a.csv': () => broken };
  const { result } = open(assetWith('r1', files('a.csv')));
  await queryClient.cancelQueries({ queryKey: ['asset', 'preview'] });
  await waitFor(() => expect(result.current.problems).toHaveLength(1));
});
