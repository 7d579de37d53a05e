import { QueryClientProvider } from '@tanstack/react-query';
import { cleanup, render, screen } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { queryClient } from '../../../../lib/api/query-client.ts';
import { describeQuantities, UsageAnswers } from './usage-answers.tsx';

const call = vi.hoisted(() => vi.fn());
vi.mock('../../../../lib/api/api-client.ts', async (original) => ({ ...(await original<object>()), call }));

afterEach(cleanup);

test('a line opens its answers with their usage and cost', async () => {
  call.mockResolvedValue({
    answers: [
      {
        id: 'one',
        at: '2026-01-31T12:00:00.000Z',
        amount: '0.000123',
        quantities: { completion_tokens: 4, prompt_tokens: 1_100 },
      },
    ],
    next_cursor: null,
  });
  render(
    <QueryClientProvider client={queryClient}>
      <UsageAnswers windowId="w" />
    </QueryClientProvider>,
  );
  const list = await screen.findByRole('list', { name: 'Answers' });
  expect(list.textContent).toContain('1,100 prompt tokens, 4 completion tokens');
  expect(list.textContent).toContain('<$0.0001');
});

test('formats quantities as words', () => {
  expect(describeQuantities({ images: 1 })).toBe('1 image');
});
