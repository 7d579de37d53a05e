import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { render, screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { RowSheet } from './row-sheet.tsx';
import { rowQuery } from './viewer-calls.ts';

vi.mock('../../../../lib/api/api-client.ts', () => ({ call: () => new Promise(() => undefined) }));

const file = { assetId: 'set', revisionId: 'first', path: 'd.jsonl' };

test('renders the answers of a preference as conversations', () => {
  const turn = (content: string) => [{ role: 'assistant', content }];
  const row = { prompt: 'Who?', chosen: turn('Ada.'), rejected: turn('Go away.') };
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } } });
  client.setQueryData(rowQuery({ ...file, at: 0 }).queryKey, {
    ...{ columns: Object.keys(row), rows: [['Who?', '[{…', '[{…']], conversations: [] },
    ...{ format: { format: 'preference', input_column: 'prompt' }, whole_row: JSON.stringify(row) },
  } as never);
  render(
    <QueryClientProvider client={client}>
      <RowSheet file={file} at={0} total={1} onAt={() => undefined} />
    </QueryClientProvider>,
  );
  expect(screen.getAllByRole('listitem').map(({ textContent }) => textContent)).toEqual([
    'AssistantAda.',
    'AssistantGo away.',
  ]);
  expect(screen.getByText('Who?')).toBeTruthy();
});
