import { getVisitorPicture } from '@bakehouse/contract/visitors';
import { QueryClientProvider } from '@tanstack/react-query';
import { createMemoryHistory, createRootRoute, createRouter, RouterProvider } from '@tanstack/react-router';
import { render, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, test, vi } from 'vitest';
import { call } from '../../../../lib/api/api-client.ts';
import { ApiError } from '../../../../lib/api/api-error.ts';
import { queryClient } from '../../../../lib/api/query-client.ts';
import { saveGuestResults } from './saved-tries.ts';
import { TryChat } from './try-chat.tsx';
import { TryPicture } from './try-picture.tsx';

vi.mock('../../../../lib/api/api-client.ts', () => ({ call: vi.fn<typeof call>() }));

const done = {
  ...{ token: 't1', prompt: 'a red apple', state: 'completed', reason: '' },
  ...{ step: 20, steps: 20, preview: null, url: '/api/apple.png' },
};

beforeEach(() => {
  sessionStorage.clear();
  queryClient.clear();
  vi.mocked(call).mockReset();
});

function open() {
  const routeTree = createRootRoute({
    component: () => (
      <>
        <TryPicture state="ready" />
        <TryChat state="ready" model="smol" />
      </>
    ),
  });
  const router = createRouter({ routeTree, history: createMemoryHistory() });
  render(
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
}

test("restores the tab's results with a link to sign up", async () => {
  vi.mocked(call).mockResolvedValue(done);
  saveGuestResults({
    picture: 't1',
    chat: { id: crypto.randomUUID(), model: 'smol', turns: [{ role: 'user', content: 'Which bread?' }] },
  });
  open();
  await screen.findByRole('img', { name: 'a red apple' });
  expect(vi.mocked(call).mock.calls[0]?.slice(0, 2)).toEqual([
    getVisitorPicture,
    { params: { token: 't1' } },
  ]);
  expect(screen.getByText('Which bread?')).toBeTruthy();
  const link = screen.getByRole('link', { name: 'Sign up to keep it' });
  expect(link.getAttribute('href')).toBe('/?form=sign-up#sign-in');
});

test('shows a finished picture and answer before the first try', async () => {
  open();
  expect(await screen.findByRole('img', { name: 'a rocket in the sky' })).toBeTruthy();
  expect(within(screen.getByRole('log')).getAllByRole('listitem')).toHaveLength(2);
});

test('shows the example for a deleted picture', async () => {
  vi.mocked(call).mockRejectedValue(new ApiError('Picture not found', { status: 404 }));
  saveGuestResults({ picture: 't1' });
  open();
  await vi.waitFor(() => expect(call).toHaveBeenCalled());
  expect(await screen.findByText('Example: a rocket in the sky')).toBeTruthy();
  expect(screen.queryByRole('alert')).toBeNull();
});

test("requires text, and keeps a picture's prompt", async () => {
  vi.mocked(call).mockResolvedValue(done);
  open();
  await userEvent.click(await screen.findByRole('button', { name: 'Generate' }));
  expect(screen.getByRole('alert').textContent).toBe('Describe a picture first');
  const prompt = screen.getByRole<HTMLInputElement>('textbox', { name: 'Prompt' });
  expect(document.activeElement).toBe(prompt);
  expect(call).not.toHaveBeenCalled();
  await userEvent.type(prompt, 'a red apple{Enter}');
  await screen.findByRole('img', { name: 'a red apple' });
  expect(prompt.value).toBe('a red apple');
  await userEvent.click(screen.getByRole('button', { name: 'Ask' }));
  expect(screen.getByRole('alert').textContent).toBe('Ask a question first');
});
