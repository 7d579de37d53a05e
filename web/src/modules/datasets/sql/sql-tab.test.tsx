import type { Asset } from '@bakehouse/contract/assets';
import { exportSql, listSqlTables, runSql } from '@bakehouse/contract/sql';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { cleanup, render, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { afterEach, expect, test, vi } from 'vitest';
import { call, callRaw } from '../../../lib/api/api-client.ts';
import { ApiError } from '../../../lib/api/api-error.ts';
import { saveAs } from '../../../lib/api/download.ts';
import { SqlTab } from './sql-tab.tsx';

vi.mock('../../../lib/api/api-client.ts', () => ({
  call: vi.fn<typeof call>(),
  callRaw: vi.fn<typeof callRaw>(),
}));
vi.mock('../../../lib/api/download.ts', () => ({ saveAs: vi.fn<typeof saveAs>() }));

afterEach(() => {
  cleanup();
  vi.clearAllMocks();
});

const answer = {
  columns: [
    { name: 'flour', type: 'VARCHAR' },
    { name: 'loaves', type: 'BIGINT' },
  ],
  rows: [['rye', 64]],
  has_more: true,
  dropped: [{ path: 'loaves.csv', line: 7, reason: '1 field instead of 4' }],
  dropped_count: 1,
};

function show({
  query,
  tables = ['loaves'],
  run = async () => answer,
}: {
  query?: string;
  tables?: string[];
  run?: (body: { query: string; offset: number }, signal: AbortSignal | undefined) => Promise<object>;
}) {
  vi.mocked(call).mockImplementation((async (
    endpoint: unknown,
    input: never,
    options: { signal?: AbortSignal },
  ) => {
    if (endpoint === runSql)
      return run((input as { body: { query: string; offset: number } }).body, options.signal);
    expect(endpoint).toBe(listSqlTables);
    return {
      tables: tables.map((name) => ({ name, paths: [`${name}.csv`], size_bytes: 1 })),
      has_more: false,
    };
  }) as unknown as typeof call);
  render(
    <QueryClientProvider client={new QueryClient()}>
      <Placed query={query} />
    </QueryClientProvider>,
  );
}

/** Keeps the query in state, as the page does in its URL. */
function Placed({ query }: { query: string | undefined }) {
  const [current, setCurrent] = useState(query);
  const asset = { dataset_id: 'set', revision_id: 'first' } as Asset;
  return <SqlTab asset={asset} query={current} onQuery={setCurrent} />;
}

const editor = () => screen.findByRole<HTMLTextAreaElement>('textbox', { name: 'SQL query' });

test('starts with an example, and Ctrl+Enter runs the typed query', async () => {
  show({});
  await screen.findByDisplayValue(/FROM loaves/);
  await userEvent.clear(await editor());
  await userEvent.type(await editor(), 'FROM loaves{Control>}{Enter}{/Control}');
  const result = within(await screen.findByRole('region', { name: 'Rows of the result' }));
  result.getByRole('cell', { name: 'rye' });
  result.getByText('VARCHAR');
  screen.getByText('loaves.csv, line 7: 1 field instead of 4');
  screen.getByText('Rows 1 to 1; more follow');
  expect(vi.mocked(call).mock.lastCall?.[1]).toMatchObject({
    params: { id: 'set' },
    body: { query: 'FROM loaves', revision_id: 'first', offset: 0 },
  });
  await userEvent.click(screen.getByRole('button', { name: 'Later rows' }));
  expect(vi.mocked(call).mock.lastCall?.[1]).toMatchObject({ body: { query: 'FROM loaves', offset: 100 } });
});

test('runs the query in the URL immediately, and shows its error', async () => {
  const message = 'Parser Error: syntax error at or near "FRM"\n\nLINE 1: FRM loaves';
  show({
    query: 'FRM loaves',
    run: () => Promise.reject(new ApiError(message, { status: 400, code: 'invalid_request' })),
  });
  expect((await screen.findByRole('alert')).textContent).toContain(message);
  expect((await editor()).value).toBe('FRM loaves');
});

test('cancels a running query on the server', async () => {
  let ended: AbortSignal | undefined;
  show({
    query: 'FROM loaves',
    run: (_body, signal) => {
      ended = signal;
      return new Promise((_resolve, reject) =>
        signal?.addEventListener('abort', () => reject(signal.reason as Error)),
      );
    },
  });
  await userEvent.click(await screen.findByRole('button', { name: 'Cancel' }));
  expect(ended?.aborted).toBe(true);
  await screen.findByRole('button', { name: 'Run' });
  expect(screen.queryByRole('alert')).toBeNull();
});

test('saves the whole result as CSV or Parquet', async () => {
  vi.mocked(callRaw).mockResolvedValue(new Response('flour\nrye\n'));
  show({ query: 'FROM loaves' });
  await userEvent.click(await screen.findByRole('button', { name: 'Download' }));
  await userEvent.click(await screen.findByRole('menuitem', { name: 'Parquet' }));
  await vi.waitFor(() => expect(saveAs).toHaveBeenCalledWith(expect.anything(), 'result.parquet'));
  expect(vi.mocked(callRaw).mock.lastCall).toMatchObject([
    exportSql,
    { body: { query: 'FROM loaves', format: 'parquet' } },
    {},
  ]);
});

test('shows nothing to query without data files', async () => {
  show({ tables: [] });
  await screen.findByText('No data to query');
  expect(screen.queryByRole('textbox')).toBeNull();
});
