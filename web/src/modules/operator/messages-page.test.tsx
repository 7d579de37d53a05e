import { QueryClientProvider } from '@tanstack/react-query';
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
} from '@tanstack/react-router';
import { render, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import { call } from '../../lib/api/api-client.ts';
import { queryClient } from '../../lib/api/query-client.ts';
import { UserContext } from '../accounts/session.ts';
import { MessagesPage } from './messages-page.tsx';

vi.mock('../../lib/api/api-client.ts', () => ({ call: vi.fn<() => Promise<unknown>>() }));

test('an opened new message stays in the list while it is read and answered', async () => {
  let message = {
    message_id: 'm1',
    subject: 'My run',
    message: 'It stands still.',
    username: 'ada',
    email: 'ada@example.com',
    status: 'new',
    created_at: new Date().toISOString(),
  };
  vi.mocked(call).mockImplementation(async (endpoint, input) => {
    const { query, body } = (input ?? {}) as { query?: { status?: string }; body?: { status: string } };
    if (endpoint.method !== 'GET') {
      message = { ...message, ...body };
      return message;
    }
    const isShown = query?.status === undefined || query.status === message.status;
    return { messages: isShown ? [message] : [], next_cursor: null };
  });
  const root = createRootRoute();
  const page = createRoute({
    getParentRoute: () => root,
    path: '/operator/messages',
    component: MessagesPage,
  });
  const router = createRouter({
    routeTree: root.addChildren([page]),
    history: createMemoryHistory({ initialEntries: ['/operator/messages?status=new'] }),
  });
  render(
    <QueryClientProvider client={queryClient}>
      <UserContext value={{ id: 'olga', is_operator: true } as never}>
        <RouterProvider router={router as never} />
      </UserContext>
    </QueryClientProvider>,
  );

  await userEvent.click(await screen.findByRole('button', { name: /My run/ }));
  await waitFor(() => expect(message.status).toBe('read'));
  expect(await screen.findByText('It stands still.')).toBeTruthy();
  await userEvent.click(screen.getByRole('button', { name: 'Mark as answered' }));
  await screen.findByRole('button', { name: 'Mark as unanswered' });
  expect(screen.getByText('It stands still.')).toBeTruthy();

  // Reopening the list of new messages finds none.
  await userEvent.click(screen.getByRole('button', { name: 'All' }));
  await screen.findByRole('button', { name: /My run/ });
  await userEvent.click(screen.getByRole('button', { name: 'New' }));
  await screen.findByText('No new messages');
});
