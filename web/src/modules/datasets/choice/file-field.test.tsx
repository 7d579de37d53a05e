import { QueryClientProvider } from '@tanstack/react-query';
import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, it, vi } from 'vitest';
import { call } from '../../../lib/api/api-client.ts';
import { queryClient } from '../../../lib/api/query-client.ts';
import { FileField } from './file-field.tsx';

vi.mock('../../../lib/api/api-client.ts', () => ({ call: vi.fn<typeof call>() }));

const file = (path: string) => ({ path, size_bytes: 2048, sha256: '', uploaded_at: '' });

/** Opens a dataset with these listed files; a search by path prefix returns `found`. */
async function openField(listed: string[], { isCut = false, found = [] as string[] } = {}) {
  const prefixes: string[] = [];
  vi.mocked(call).mockImplementation(async (...args: unknown[]) => {
    const { prefix } = (args[1] as { query?: { prefix: string } }).query ?? {};
    if (prefix === undefined) return { files: listed.map(file), next_files_cursor: isCut ? 'more' : null };
    prefixes.push(prefix);
    return { files: found.map(file), next_cursor: null };
  });
  render(
    <QueryClientProvider client={queryClient}>
      <FileField datasetId="d" value={null} onChange={() => undefined} />
    </QueryClientProvider>,
  );
  const field = screen.getByRole('combobox', { name: 'File' });
  await screen.findByPlaceholderText('Choose a file');
  return { field, prefixes };
}

beforeEach(() => queryClient.clear());

it('offers the files with rows, without a request for listed files', async () => {
  const { field, prefixes } = await openField(['a.csv', 'b.jsonl', 'photo.png']);
  await userEvent.click(field);
  expect(await screen.findByRole('option', { name: /a\.csv/ })).toBeTruthy();
  expect(screen.queryByRole('option', { name: /photo/ })).toBeNull();
  await userEvent.type(field, 'b');
  expect(await screen.findByRole('option', { name: /b\.jsonl/ })).toBeTruthy();
  expect(prefixes).toEqual([]);
  expect(screen.queryByText(/There are more files/)).toBeNull();
});

it('searches by path prefix on the server for files that are not listed', async () => {
  const { field, prefixes } = await openField(['a.csv'], { isCut: true, found: ['parts/z.csv'] });
  await userEvent.click(field);
  expect(await screen.findByText(/There are more files\./)).toBeTruthy();
  await userEvent.type(field, 'parts/');
  expect(await screen.findByRole('option', { name: /parts\/z\.csv/ })).toBeTruthy();
  expect(prefixes.at(-1)).toBe('parts/');
});

it('explains what a dataset without such files needs', async () => {
  await openField(['photo.png']);
  expect(await screen.findByText(/no csv, jsonl, json, txt or parquet file yet/)).toBeTruthy();
});

it('shows which part of the selected file cannot be read', async () => {
  const broken = [{ line: 7, reason: '1 field instead of 2' }];
  const preview = { columns: ['q'], rows: [['1']], total_rows: 1, broken, broken_count: 1 };
  const dataset = { dataset_id: 'd', revision_id: 'r1', files: [file('a.csv')], next_files_cursor: null };
  vi.mocked(call).mockImplementation(async ({ path }) => (path.endsWith('/preview') ? preview : dataset));
  render(
    <QueryClientProvider client={queryClient}>
      <FileField datasetId="d" value="a.csv" onChange={() => undefined} />
    </QueryClientProvider>,
  );
  expect(await screen.findByText(/^1 row cannot be read\. Line 7/)).toBeTruthy();
});
