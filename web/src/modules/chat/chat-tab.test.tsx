import type { Deployment } from '@bakehouse/contract/deployments/text';
import type { Endpoint } from '@bakehouse/contract/endpoint';
import { QueryClientProvider } from '@tanstack/react-query';
import { cleanup, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { setCredentials } from '../../lib/api/credentials.ts';
import { queryClient } from '../../lib/api/query-client.ts';
import { writeToTab } from '../../lib/tab-storage.ts';
import { UserContext } from '../accounts/session.ts';
import { ChatTab } from './chat-tab.tsx';
import { createFakeConversations } from './testing/create-fake-conversations.ts';

let kept = createFakeConversations();
vi.mock('../../lib/api/api-client.ts', () => ({
  call: async (endpoint: Endpoint, input: object) => kept.answer(endpoint, input) ?? { prices: [] },
}));

function AddressedTab({ pod }: { pod: Deployment }) {
  const [conversation, setConversation] = useState<string>();
  return <ChatTab pod={pod} opened={{ conversation, onOpen: setConversation }} />;
}

function open(status: Deployment['status']) {
  const pod = {
    pod_id: 'pod-1',
    model_name: 'rye',
    device: 'CPU',
    price_per_hour: '1',
    sleeps_after_minutes: 45,
    ready_at: '2026-01-01T00:00:00.000Z',
    status,
  };
  render(
    <QueryClientProvider client={queryClient}>
      <UserContext value={{ id: 'ada' } as never}>
        <AddressedTab pod={pod as Deployment} />
      </UserContext>
    </QueryClientProvider>,
  );
}

const keep = (unanswered = '') =>
  kept.keep('pod-1', {
    turns: [
      { role: 'user', content: 'Which bread?' },
      { role: 'assistant', content: 'Rye bread' },
    ],
    unanswered,
  });

beforeEach(() => {
  queryClient.clear();
  kept = createFakeConversations();
  sessionStorage.clear();
  setCredentials({ userId: 'ada', apiKey: 'bk_ada' });
});
afterEach(cleanup);

const ENDED = 'This deployment has ended. Deploy the model again to chat with it.';

test.each([
  ['terminated', ENDED],
  ['failed', ENDED],
  ['stopping', 'This deployment is being terminated.'],
] as const)('shows the conversation with a %s deployment read-only', async (status, why) => {
  keep('Why rye?');
  open(status);
  for (const text of ['Which bread?', 'Rye bread', 'Why rye?', why])
    expect(await screen.findByText(text)).toBeTruthy();
  expect(screen.queryByLabelText('Message')).toBeNull();
  expect(screen.queryByRole('button', { name: 'New conversation' })).toBeNull();
});

test('shows an unsent draft as such after the deployment ended, until the conversation is deleted', async () => {
  const id = keep();
  writeToTab('ada', `question.${id}`, 'Why not wheat?');
  open('terminated');
  expect(await screen.findByText('Not sent: Why not wheat?')).toBeTruthy();
  await userEvent.click(screen.getByRole('button', { name: 'History' }));
  await userEvent.click(await screen.findByRole('button', { name: 'Delete “Which bread?”' }));
  await userEvent.click(screen.getByRole('button', { name: 'Delete' }));
  await vi.waitFor(() => expect(screen.queryByText('Rye bread')).toBeNull());
  expect(screen.queryByText(/Why not wheat/)).toBeNull();
  expect(screen.getByText(ENDED)).toBeTruthy();
});

test('shows only the ended state if an ended deployment has no conversation', async () => {
  open('terminated');
  expect(await screen.findByText(ENDED)).toBeTruthy();
  expect(screen.queryByRole('log')).toBeNull();
});

test('a conversation continues while the deployment can answer', async () => {
  keep();
  open('sleeping');
  expect(await screen.findByText('Rye bread')).toBeTruthy();
  expect(screen.getByLabelText('Message')).toBeTruthy();
});
