import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { setCredentials } from '../../../lib/api/credentials.ts';
import { CompareTexts } from './compare-texts.tsx';

afterEach(() => vi.unstubAllGlobals());

/** Shows the form above a server that answers with these vectors; returns what it is asked. */
function show(vectors: number[][]): unknown[] {
  const asked: unknown[] = [];
  vi.stubGlobal('fetch', async (_url: string, { body }: { body: string }) => {
    asked.push(JSON.parse(body));
    const data = vectors.map((embedding, index) => ({ object: 'embedding', index, embedding }));
    return Response.json({
      object: 'list',
      data,
      model: 'rye',
      usage: { prompt_tokens: 9, total_tokens: 9 },
    });
  });
  setCredentials({ userId: 'ada', apiKey: 'bk_ada' });
  render(
    <QueryClientProvider client={new QueryClient()}>
      <CompareTexts modelName="rye" />
    </QueryClientProvider>,
  );
  return asked;
}

test('two texts are compared as the model reads them, until one of them changes', async () => {
  const asked = show([
    [1, 0],
    [0.6, 0.8],
  ]);
  const second = screen.getByLabelText('Second text');
  await userEvent.clear(second);
  expect(screen.getByRole('button', { name: 'Compare' })).toHaveProperty('disabled', true);
  await userEvent.type(second, 'Dough');
  await userEvent.click(screen.getByRole('button', { name: 'Compare' }));
  expect(await screen.findByText('0.6000')).toBeTruthy();
  expect(screen.getByText('2 numbers for each text, 9 tokens read')).toBeTruthy();
  expect(asked).toEqual([{ model: 'rye', input: ['The bread has just come out of the oven.', 'Dough'] }]);
  await userEvent.type(second, '!');
  expect(screen.queryByText('0.6000')).toBeNull();
});
