import { QueryClientProvider } from '@tanstack/react-query';
import { cleanup, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { setCredentials } from '../../lib/api/credentials.ts';
import { queryClient } from '../../lib/api/query-client.ts';
import { UserContext } from '../accounts/session.ts';
import type { Turn } from './chat.ts';
import { AddressedPlayground } from './testing/addressed-playground.tsx';
import { createFakeConversations } from './testing/create-fake-conversations.ts';

/** The requests sent to the model. `answer` is the text that it streams; null for an error. */
let asked: { messages: Turn[]; top_p?: number; seed?: number }[];
let answer: string | null;

const button = (name: string) => screen.getByRole('button', { name });
const turns: Turn[] = [
  { role: 'user', content: 'Which flour?' },
  { role: 'assistant', content: 'Wheat' },
  { role: 'user', content: 'Which bread?' },
  { role: 'assistant', content: 'Rye bread' },
];

let kept: ReturnType<typeof createFakeConversations>;

beforeEach(async () => {
  cleanup();
  kept = createFakeConversations();
  queryClient.clear();
  asked = [];
  answer = 'Spelt bread';
  vi.stubGlobal('fetch', async (url: string, init: { method: string; body: string }) => {
    if (!url.endsWith('/chat/completions')) return kept.respond(url, init) ?? Response.json({ prices: [] });
    asked.push(JSON.parse(init.body));
    if (answer === null) return Response.json({ error: { message: 'The model is away' } }, { status: 503 });
    const delta = JSON.stringify({ choices: [{ delta: { content: answer } }] });
    return new Response(`data: ${delta}\n\n`);
  });
  setCredentials({ userId: 'ada', apiKey: 'bk_ada' });
  kept.keep('pod-1', { turns });
  render(
    <QueryClientProvider client={queryClient}>
      <UserContext value={{ id: 'ada' } as never}>
        <AddressedPlayground model="pod-1" modelName="rye" device={undefined} />
      </UserContext>
    </QueryClientProvider>,
  );
  await screen.findByLabelText('Message');
});
afterEach(async () => {
  cleanup();
  await new Promise((resolve) => setTimeout(resolve));
  vi.unstubAllGlobals();
});

const said = () => kept.read('pod-1').turns.map(({ content }) => content);
const sent = () => asked.map(({ messages }) => messages.map(({ content }) => content));
const [flour, wheat, bread, rye] = ['Which flour?', 'Wheat', 'Which bread?', 'Rye bread'];

test('each answer can be copied', async () => {
  const user = userEvent.setup();
  const copies = screen.getAllByRole('button', { name: 'Copy the answer' });
  expect(copies).toHaveLength(2);
  for (const copy of copies) await user.click(copy);
  expect(await navigator.clipboard.readText()).toBe(rye);
});

test('regenerates the last answer in place', async () => {
  await userEvent.click(button('Regenerate the answer'));
  expect(await screen.findByText('Spelt bread')).toBeTruthy();
  expect(screen.queryByText('Rye bread')).toBeNull();
  expect(sent()).toEqual([[flour, wheat, bread]]);
  await expect.poll(said).toEqual([flour, wheat, bread, 'Spelt bread']);
  // Keyboard focus stays in the conversation.
  expect(document.activeElement).toBe(screen.getByRole('log'));
});

test('a failed regeneration leaves the old answer in place', async () => {
  answer = null;
  await userEvent.click(button('Regenerate the answer'));
  await screen.findByText('The model is away');
  await expect.poll(said).toEqual([flour, wheat, bread, rye]);
  expect(screen.getByText('Rye bread')).toBeTruthy();
  expect(screen.getByLabelText<HTMLTextAreaElement>('Message').value).toBe('');
});

test('edits and resends the last question', async () => {
  await userEvent.click(button('Edit the question'));
  const field = screen.getByLabelText('Your question');
  expect(document.activeElement).toBe(field);
  await userEvent.clear(field);
  await userEvent.type(field, 'Which roll?{Enter}');
  expect(await screen.findByText('Spelt bread')).toBeTruthy();
  expect(sent()).toEqual([[flour, wheat, 'Which roll?']]);
  await expect.poll(said).toEqual([flour, wheat, 'Which roll?', 'Spelt bread']);
});

test('keeps an edited question that gets no answer, and the old question and answer', async () => {
  answer = null;
  await userEvent.click(button('Edit the question'));
  await userEvent.type(screen.getByLabelText('Your question'), ' Or roll?{Enter}');
  await screen.findByText('The model is away');
  expect(screen.getByLabelText<HTMLTextAreaElement>('Your question').value).toBe('Which bread? Or roll?');
  await expect.poll(() => kept.read('pod-1')).toMatchObject({ turns, unanswered: 'Which bread? Or roll?' });
});

test('Escape discards the edit and returns focus to the button', async () => {
  await userEvent.click(button('Edit the question'));
  await userEvent.type(screen.getByLabelText('Your question'), ' Or roll?{Escape}');
  expect(screen.getByText('Which bread?')).toBeTruthy();
  expect(document.activeElement).toBe(button('Edit the question'));
  expect(asked).toEqual([]);
});

test('sends top P and the seed once they are set', async () => {
  await userEvent.click(button('Regenerate the answer'));
  await screen.findByText('Spelt bread');
  await userEvent.click(button('Advanced'));
  await userEvent.type(screen.getByLabelText('Top-p'), '0.5{Tab}');
  await userEvent.type(screen.getByLabelText('Seed'), '7{Tab}');
  await userEvent.click(button('Regenerate the answer'));
  await vi.waitFor(() => expect(asked).toHaveLength(2));
  expect(asked[0]).not.toHaveProperty('top_p');
  expect(asked[1]).toMatchObject({ top_p: 0.5, seed: 7 });
});
