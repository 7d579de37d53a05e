import { QueryClientProvider } from '@tanstack/react-query';
import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { setCredentials } from '../../lib/api/credentials.ts';
import { queryClient } from '../../lib/api/query-client.ts';
import { UserContext } from '../accounts/session.ts';
import type { Turn } from './chat.ts';
import { newestTurns } from './saved-conversation.ts';
import { AddressedPlayground } from './testing/addressed-playground.tsx';
import { createFakeConversations } from './testing/create-fake-conversations.ts';

/** The requests sent to the model, and the delta that it streams next; null for no answer. */
let asked: { messages: unknown[]; tools?: unknown; tool_choice?: string }[];
let delta: object | null;
let kept: ReturnType<typeof createFakeConversations>;

const definitions = [{ type: 'function', function: { name: 'weather', parameters: { type: 'object' } } }];
const weather = {
  id: 'call_1',
  type: 'function',
  function: { name: 'weather', arguments: '{"city":"Paris"}' },
};
const calling = { tool_calls: [{ index: 0, ...weather }] };
const turns: Turn[] = [
  { role: 'user', content: 'Is it warm?' },
  { role: 'assistant', content: '', calls: [{ id: 'call_1', ...weather.function }] },
];

async function open() {
  cleanup();
  queryClient.clear();
  render(
    <QueryClientProvider client={queryClient}>
      <UserContext value={{ id: 'ada' } as never}>
        <AddressedPlayground model="pod-1" modelName="rye" device={undefined} />
      </UserContext>
    </QueryClientProvider>,
  );
  await screen.findByLabelText('Message');
}

const answered = () => screen.findByRole('button', { name: 'Send' });
const functions = () => screen.findByRole('textbox', { name: /Tools/ });

beforeEach(() => {
  sessionStorage.clear();
  kept = createFakeConversations();
  asked = [];
  setCredentials({ userId: 'ada', apiKey: 'bk_ada' });
  vi.stubGlobal('fetch', async (url: string, init: { method: string; body: string }) => {
    if (!url.endsWith('/chat/completions')) return kept.respond(url, init) ?? Response.json({ prices: [] });
    asked.push(JSON.parse(init.body));
    if (!delta) return Response.json({ error: { message: 'The model is away' } }, { status: 503 });
    return new Response(`data: ${JSON.stringify({ choices: [{ delta }] })}\n\n`);
  });
});

afterEach(async () => {
  cleanup();
  // Lets pending saves finish so that they do not leak into the next test.
  await new Promise((resolve) => setTimeout(resolve));
  vi.unstubAllGlobals();
});

test('a model calls the configured tools and continues with the result', async () => {
  await open();
  await userEvent.click(screen.getByRole('button', { name: 'Tools' }));
  fireEvent.change(await functions(), { target: { value: JSON.stringify(definitions) } });
  await userEvent.click(screen.getByRole('checkbox', { name: /Require a tool call in every answer/ }));
  delta = calling;
  await userEvent.type(screen.getByLabelText('Message'), 'Is it warm?{Enter}');
  expect(await screen.findByRole('heading', { name: 'Calls weather' })).toBeTruthy();
  expect(screen.getByText(/"city": "Paris"/)).toBeTruthy();
  expect(asked[0]).toMatchObject({ tools: definitions, tool_choice: 'required' });
  await answered();
  expect(screen.getByRole('button', { name: 'Send the result' })).toHaveProperty('disabled', true);
  await userEvent.type(screen.getByRole('textbox', { name: 'Result of weather' }), '31 degrees');
  delta = { content: 'Yes, 31 degrees.' };
  await userEvent.click(screen.getByRole('button', { name: 'Send the result' }));
  expect(await screen.findByText('Yes, 31 degrees.')).toBeTruthy();
  expect(asked[1]).toMatchObject({ tools: definitions, tool_choice: 'auto' });
  expect(asked[1]?.messages).toEqual([
    { role: 'user', content: 'Is it warm?' },
    { role: 'assistant', content: '', tool_calls: [weather] },
    { role: 'tool', content: '31 degrees', tool_call_id: 'call_1' },
  ]);
  expect(screen.queryByRole('button', { name: 'Send the result' })).toBeNull();
  await expect.poll(() => kept.read('pod-1').turns).toHaveLength(4);
  await open();
  expect(await screen.findByRole('heading', { name: 'Result of weather' })).toBeTruthy();
  expect(await functions()).toHaveProperty('value', JSON.stringify(definitions));
});

test('keeps an entered result that got no answer', async () => {
  kept.keep('pod-1', { turns });
  await open();
  await userEvent.type(await screen.findByRole('textbox', { name: 'Result of weather' }), 'Rain');
  delta = null;
  await userEvent.click(screen.getByRole('button', { name: 'Send the result' }));
  expect(await screen.findByText('The model is away')).toBeTruthy();
  expect(screen.getByRole('textbox', { name: 'Result of weather' })).toHaveProperty('value', 'Rain');
  expect(screen.getByLabelText('Message')).toHaveProperty('value', '');
});

test.each(['{', '{"type": "function"}', '[{"type": "function"}]'])(
  'does not send invalid functions: %s',
  async (typed) => {
    await open();
    await userEvent.click(screen.getByRole('button', { name: 'Tools' }));
    fireEvent.change(await functions(), { target: { value: typed } });
    expect(await screen.findByText(/^(Must be a JSON list|Function 1 must have a name)/)).toBeTruthy();
    await userEvent.type(screen.getByLabelText('Message'), 'Is it warm?{Enter}');
    expect(asked).toEqual([]);
    expect(screen.getByRole('status').textContent).toContain('Fix “Tools”');
  },
);

test('trimming a long conversation drops results together with their calls', () => {
  const results: Turn[] = [
    { role: 'user', content: '', results: [{ id: 'call_1', name: 'weather', content: 'Rain' }] },
    { role: 'assistant', content: 'Take an umbrella.' },
  ];
  const later: Turn[] = [
    { role: 'user', content: 'Thanks' },
    { role: 'assistant', content: 'Gladly.' },
  ];
  const all = [...turns, ...results, ...later];
  expect(newestTurns(all, JSON.stringify(all).length)).toEqual(all);
  expect(newestTurns(all, JSON.stringify(all).length - 1)).toEqual(later);
});
