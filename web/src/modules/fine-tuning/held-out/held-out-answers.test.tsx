import { listVllm } from '@bakehouse/contract/deployments/text';
import type { HeldOutAnswers as Answers } from '@bakehouse/contract/runtime/report';
import { QueryClientProvider } from '@tanstack/react-query';
import { createMemoryHistory, createRootRoute, createRouter, RouterProvider } from '@tanstack/react-router';
import { cleanup, fireEvent, render, screen, within } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { queryClient } from '../../../lib/api/query-client.ts';
import { UserContext } from '../../accounts/session.ts';
import { HeldOutAnswers } from './held-out-answers.tsx';
import { heldOutAnswersQuery } from './held-out-calls.ts';

const server = vi.hoisted(() => ({ pods: {} as Record<string, object[]> }));
vi.mock('../../../lib/api/api-client.ts', () => ({
  call: async (endpoint: unknown, { query }: { query?: { model_id?: string } } = {}) =>
    endpoint === listVllm
      ? { pods: server.pods[query?.model_id ?? ''] ?? [] }
      : { data: [{ id: 'rye-1', parent: 'smol' }] },
}));

const row = {
  question: 'What does the house loaf cost?',
  earlier_turns: 0,
  expected: '39 euros.',
  base: 'It depends on the bakery…',
  tuned: '129 euros.',
};

function show(answers: Answers | null) {
  queryClient.setQueryData(heldOutAnswersQuery('r1').queryKey, { held_out_answers: answers });
  return render(
    <QueryClientProvider client={queryClient}>
      <HeldOutAnswers runId="r1" models={{ modelId: 'm1', baseModelId: 'b1' }} />
    </QueryClientProvider>,
  );
}
afterEach(cleanup);

test("shows both models' answers next to the expected one and marks correct answers", () => {
  const second = {
    ...row,
    question: 'Who bakes?',
    earlier_turns: 2,
    expected: 'Ada  bakes.',
    base: '',
    tuned: 'ada bakes.',
  };
  show({ task: 'answer', rows: [row, second], skipped: null });
  const [first, last] = screen.getAllByRole('listitem').map((item) => within(item));
  expect(first?.getAllByRole('definition').map(({ textContent }) => textContent)).toEqual([
    '39 euros.',
    'It depends on the bakery…',
    '129 euros.',
  ]);
  expect(first?.queryByText('as expected')).toBeNull();
  expect(last?.getByText('Question, after 2 earlier turns')).toBeTruthy();
  expect(last?.getByText('No text')).toBeTruthy();
  expect(last?.getAllByText('as expected')).toHaveLength(1);
  expect(screen.getByText(/Word-for-word matches: 1 by this model, none by the base model\.$/)).toBeTruthy();
});

test.each([
  ['a deployment', [{ pod_id: 'p2', status: 'running' }], 'p2'],
  ['a starter model', [], 'smol'],
])('unasked questions can be asked manually, next to %s', async (_case, basePods, compared) => {
  server.pods = { m1: [{ pod_id: 'p1', model_name: 'rye-1', status: 'running' }], b1: basePods };
  const answers: Answers = { task: 'answer', rows: [], skipped: 'The models could not be asked.' };
  queryClient.clear();
  queryClient.setQueryData(heldOutAnswersQuery('r1').queryKey, {
    held_out_answers: { ...answers, questions: ['Who bakes?'] },
  });
  const routeTree = createRootRoute({
    component: () => <HeldOutAnswers runId="r1" models={{ modelId: 'm1', baseModelId: 'b1' }} />,
  });
  const router = createRouter({ routeTree, history: createMemoryHistory() });
  render(
    <QueryClientProvider client={queryClient}>
      <UserContext value={{ id: 'u1' } as never}>
        <RouterProvider router={router as never} />
      </UserContext>
    </QueryClientProvider>,
  );
  expect(await screen.findByText('Who bakes?')).toBeTruthy();
  expect(screen.getByRole('button', { name: 'Copy the question' })).toBeTruthy();
  await vi.waitFor(() =>
    expect(screen.getByRole('link', { name: 'Compare' }).getAttribute('href')).toBe(
      `/chat?model=p1&compare=${compared}`,
    ),
  );
});

test('a long answer is collapsed until expanded', () => {
  show({ task: 'continue', rows: [{ ...row, tuned: 'long '.repeat(100) }], skipped: null });
  expect(screen.getByText('Beginning')).toBeTruthy();
  const text = screen.getByText(/^long long/);
  expect(text.className).toContain('line-clamp');
  fireEvent.click(screen.getByRole('button', { name: 'Show all' }));
  expect(text.className).not.toContain('line-clamp');
});

test('explains why questions were not asked; older runs show nothing', () => {
  show({ task: 'answer', rows: [], skipped: 'No row was held out, so there is nothing to compare.' });
  expect(screen.getByText('No row was held out, so there is nothing to compare.')).toBeTruthy();
  cleanup();
  expect(show(null).container.textContent).toBe('');
});
