import { QueryClientProvider } from '@tanstack/react-query';
import { act, cleanup, render, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { setCredentials } from '../../lib/api/credentials.ts';
import { queryClient } from '../../lib/api/query-client.ts';
import { UserContext } from '../accounts/session.ts';
import type { Turn } from './chat.ts';
import { initialSettings } from './chat-options.tsx';
import { AddressedPlayground } from './testing/addressed-playground.tsx';
import { createFakeConversations } from './testing/create-fake-conversations.ts';

/** Requests sent to the model, and the stream that the test uses to answer. */
let asked: { messages: unknown; max_tokens: number }[];
let answer: ReadableStreamDefaultController<Uint8Array>;

const sends = (chunk: object) =>
  answer.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(chunk)}\n\n`));
const says = (text: string) => sends({ choices: [{ delta: { content: text } }] });

/** Saved conversations of Ada and Eve. */
let kept: ReturnType<typeof createFakeConversations>;
let keptOfEve: ReturnType<typeof createFakeConversations>;

/** Simulates a reload or a return to the page. */
async function open({ as = 'ada', id = 'pod-1' } = {}) {
  cleanup();
  // Let pending saves finish.
  await new Promise((resolve) => setTimeout(resolve));
  queryClient.clear();
  setCredentials({ userId: as, apiKey: `bk_${as}` });
  render(
    <QueryClientProvider client={queryClient}>
      <UserContext value={{ id: as } as never}>
        <AddressedPlayground model={id} modelName="rye" device={undefined} />
      </UserContext>
    </QueryClientProvider>,
  );
  await screen.findByLabelText('Message');
}

async function ask(question: string) {
  const before = asked.length;
  await userEvent.type(screen.getByLabelText('Message'), `${question}{Enter}`);
  await vi.waitFor(() => expect(asked).toHaveLength(before + 1));
}

async function askAndAnswer(question: string, text: string) {
  await ask(question);
  says(text);
  answer.close();
  await screen.findByRole('button', { name: 'Send' });
}

const cake: Turn[] = [
  { role: 'user', content: 'Which cake?' },
  { role: 'assistant', content: 'Plum cake' },
];

const message = () => screen.getByLabelText<HTMLTextAreaElement>('Message').value;
const INTERRUPTED = 'The answer was interrupted.';

beforeEach(() => {
  sessionStorage.clear();
  kept = createFakeConversations();
  keptOfEve = createFakeConversations();
  asked = [];
  vi.stubGlobal(
    'fetch',
    async (url: string, init: { method: string; body: string; headers: Headers; signal?: AbortSignal }) => {
      const own = init.headers.get('x-api-key') === 'bk_eve' ? keptOfEve : kept;
      if (!url.endsWith('/chat/completions')) return own.respond(url, init) ?? Response.json({ prices: [] });
      asked.push(JSON.parse(init.body));
      const stream = new ReadableStream<Uint8Array>({ start: (controller) => void (answer = controller) });
      init.signal?.addEventListener('abort', () => answer.error(init.signal?.reason));
      return new Response(stream);
    },
  );
});

afterEach(async () => {
  cleanup();
  await new Promise((resolve) => setTimeout(resolve));
  queryClient.clear();
  vi.unstubAllGlobals();
});

test('restores a conversation with its settings and continues it', async () => {
  await open();
  expect(screen.getByText(/Context window: 8,192 tokens\.$/)).toBeTruthy();
  const tokens = screen.getByLabelText('Maximum tokens');
  await userEvent.clear(tokens);
  await userEvent.type(tokens, '64{Tab}');
  await askAndAnswer('Which bread?', 'Rye bread');
  await open();
  expect(screen.getByText('Which bread?')).toBeTruthy();
  expect(await screen.findByText('Rye bread')).toBeTruthy();
  expect(screen.queryByText(INTERRUPTED)).toBeNull();
  await ask('Why?');
  expect(asked[1]).toMatchObject({
    messages: [
      { role: 'user', content: 'Which bread?' },
      { role: 'assistant', content: 'Rye bread' },
      { role: 'user', content: 'Why?' },
    ],
    max_tokens: 64,
  });
});

test.each([
  ['leaving the page', () => cleanup()],
  ['a reload', () => window.dispatchEvent(new Event('pagehide'))],
])('saves an answer that %s interrupts, and marks it as interrupted', async (_how, interrupt) => {
  await open();
  await ask('Which bread?');
  says('Rye br');
  await screen.findByText('Rye br');
  interrupt();
  await expect
    .poll(() => kept.read('pod-1').turns.at(-1))
    .toMatchObject({ content: 'Rye br', interrupted: true });
});

test('Stop marks the partial answer', async () => {
  await open();
  await ask('Which bread?');
  says('Rye br');
  await screen.findByText('Rye br');
  await userEvent.click(screen.getByRole('button', { name: 'Stop' }));
  expect(await screen.findByText(INTERRUPTED)).toBeTruthy();
});

test('Stop puts the unanswered question back into the field, before newly typed text', async () => {
  await open();
  await ask('Which bread?');
  await userEvent.type(screen.getByLabelText('Message'), 'And why?');
  await userEvent.click(screen.getByRole('button', { name: 'Stop' }));
  await screen.findByRole('button', { name: 'Send' });
  await vi.waitFor(() => expect(message()).toBe('Which bread?\n\nAnd why?'));
});

test.each([
  [64, 64, 'The answer stopped at the maximum of 64 tokens. For longer answers, raise “Maximum tokens”.'],
  [
    64,
    40,
    'The answer stopped because the context window is full. Start a new conversation for longer answers.',
  ],
])(
  'with a maximum of %i tokens, an answer cut at %i says so, also after a reload',
  async (most, came, words) => {
    await open();
    const tokens = screen.getByLabelText('Maximum tokens');
    await userEvent.clear(tokens);
    await userEvent.type(tokens, `${most}{Tab}`);
    await ask('Which bread?');
    says('Rye br');
    sends({ choices: [{ delta: {}, finish_reason: 'length' }] });
    sends({ choices: [], usage: { completion_tokens: came } });
    answer.close();
    expect(await screen.findByText(words)).toBeTruthy();
    expect(screen.queryByText(INTERRUPTED)).toBeNull();
    await open();
    expect(await screen.findByText(words)).toBeTruthy();
  },
);

test('a complete answer is not marked as cut', async () => {
  await open();
  await ask('Which bread?');
  says('Rye');
  sends({ choices: [{ delta: {}, finish_reason: 'stop' }] });
  sends({ choices: [], usage: { completion_tokens: 1024 } });
  answer.close();
  expect(await screen.findByText(/^1,024 tokens · first word after/)).toBeTruthy();
  expect(screen.queryByText(/The answer stopped/)).toBeNull();
  expect(asked[0]).toMatchObject({ max_tokens: 1024 });
});

test('an invalid setting is named next to Send; sending focuses the setting and keeps the draft', async () => {
  await open();
  const temperature = screen.getByLabelText('Temperature');
  await userEvent.clear(temperature);
  await userEvent.type(temperature, '9{Tab}');
  const told = /^Fix “Temperature” in the settings/;
  expect(screen.getByText(told)).toBeTruthy();
  await userEvent.type(screen.getByLabelText('Message'), 'Which bread?{Enter}');
  expect(document.activeElement).toBe(temperature);
  await userEvent.click(screen.getByRole('button', { name: 'Send' }));
  expect(document.activeElement).toBe(temperature);
  expect(message()).toBe('Which bread?');
  expect(asked).toEqual([]);
  await userEvent.clear(temperature);
  await userEvent.type(temperature, '1{Tab}');
  expect(screen.queryByText(told)).toBeNull();
});

test('an unanswered question is in the field after a reload', async () => {
  await open();
  await ask('Which bread?');
  await open();
  expect(message()).toBe('Which bread?');
  expect(screen.queryByText(INTERRUPTED)).toBeNull();
  await open();
  expect(message()).toBe('Which bread?');
});

test('an emptied field stays empty after a reload', async () => {
  await open();
  await ask('Which bread?');
  await open();
  await userEvent.clear(screen.getByLabelText('Message'));
  await open();
  expect(message()).toBe('');
});

test('a new conversation keeps the settings of the previous one', async () => {
  await open();
  expect(screen.getByRole<HTMLButtonElement>('button', { name: 'New conversation' }).disabled).toBe(true);
  await userEvent.type(screen.getByLabelText('System prompt'), 'Be brief');
  await askAndAnswer('Which bread?', 'Rye bread');
  await vi.waitFor(() => expect(kept.read('pod-1').turns).toHaveLength(2));
  await userEvent.click(screen.getByRole('button', { name: 'New conversation' }));
  await vi.waitFor(() => expect(screen.queryByText('Which bread?')).toBeNull());
  expect(document.activeElement).toBe(screen.getByLabelText('Message'));
  await askAndAnswer('Which cake?', 'Plum cake');
  expect(asked[1]?.messages).toEqual([
    { role: 'system', content: 'Be brief' },
    { role: 'user', content: 'Which cake?' },
  ]);
  await expect.poll(() => kept.titles('pod-1')).toEqual(['Which cake?', 'Which bread?']);
});

const history = async () => {
  await userEvent.click(screen.getByRole('button', { name: 'History' }));
  return screen.findByRole('dialog', { name: 'Conversations' });
};

test('opens and continues an earlier conversation', async () => {
  kept.keep('pod-1', { turns: cake }, crypto.randomUUID());
  kept.keep('pod-1', { turns: [{ role: 'user', content: 'Which bread?' }] }, crypto.randomUUID());
  await open();
  expect(screen.getByText('Which bread?')).toBeTruthy();
  const list = await history();
  const [first, second] = await within(list).findAllByRole('listitem');
  expect(within(first as HTMLElement).getByRole('button', { current: true }).textContent).toMatch(
    /^Which bread/,
  );
  await userEvent.click(within(second as HTMLElement).getByRole('button', { name: /^Which cake/ }));
  expect(await screen.findByText('Plum cake')).toBeTruthy();
  expect(screen.queryByText('Which bread?')).toBeNull();
  await askAndAnswer('Why plum?', 'It is autumn');
  await expect.poll(() => kept.titles('pod-1')).toEqual(['Which cake?', 'Which bread?']);
  expect(kept.read('pod-1').turns).toHaveLength(4);
});

test('deletes conversations one by one; deleting the open one starts a new one', async () => {
  kept.keep('pod-1', { turns: [{ role: 'user', content: 'Which bread?' }] });
  kept.keep('pod-1', { turns: cake }, crypto.randomUUID());
  await open();
  await ask('Why plum?');
  const remove = async (title: string) => {
    await userEvent.click(within(await history()).getByRole('button', { name: `Delete “${title}”` }));
    await userEvent.click(screen.getByRole('button', { name: 'Delete' }));
  };
  await remove('Which cake?');
  await vi.waitFor(() => expect(screen.queryByText('Plum cake')).toBeNull());
  expect(screen.getByLabelText('Message')).toBeTruthy();
  // A late save of the interrupted answer would appear as another conversation.
  await askAndAnswer('Which roll?', 'Rye');
  await expect.poll(() => kept.titles('pod-1')).toEqual(['Which roll?', 'Which bread?']);
});

test('restores an unsent draft, only in its own conversation', async () => {
  await open();
  await userEvent.type(screen.getByLabelText('Message'), 'Which cake');
  await open({ id: 'pod-2' });
  expect(message()).toBe('');
  await open();
  expect(message()).toBe('Which cake');
  await userEvent.type(screen.getByLabelText('Message'), '?{Enter}');
  await vi.waitFor(() => expect(asked).toHaveLength(1));
  says('Plum cake');
  answer.close();
  await screen.findByRole('button', { name: 'Send' });
  await open();
  expect(message()).toBe('');
});

test('a conversation is not visible in other deployments or to other users', async () => {
  await open();
  await askAndAnswer('Which bread?', 'Rye bread');
  await open({ id: 'pod-2' });
  expect(screen.queryByText('Which bread?')).toBeNull();
  await open();
  expect(screen.getByText('Which bread?')).toBeTruthy();
  await open({ as: 'eve' });
  expect(screen.queryByText('Which bread?')).toBeNull();
});

test('follows changes from another tab without saving them again', async () => {
  await open();
  await askAndAnswer('Which bread?', 'Rye bread');
  await expect.poll(() => kept.read('pod-1').turns).toHaveLength(2);
  await act(() => kept.keepElsewhere('pod-1', { turns: cake }));
  expect(await screen.findByText('Plum cake')).toBeTruthy();
  expect(screen.queryByText('Rye bread')).toBeNull();
  await open();
  expect(kept.version('pod-1')).toBe(2);
});

test('inserts turns that another tab saved before the answer in progress', async () => {
  await open();
  await askAndAnswer('Which bread?', 'Rye bread');
  await expect.poll(() => kept.read('pod-1').turns).toHaveLength(2);
  await ask('Which flour?');
  says('Rye flour');
  await act(() => kept.keepElsewhere('pod-1', { turns: cake }));
  answer.close();
  await screen.findByRole('button', { name: 'Send' });
  await open();
  for (const text of ['Which cake?', 'Plum cake', 'Which flour?', 'Rye flour'])
    expect(screen.getAllByText(text)).toHaveLength(1);
  expect(screen.queryByText(INTERRUPTED)).toBeNull();
});

test('regenerating an answer while another tab changes the settings keeps both', async () => {
  await open();
  await askAndAnswer('Which bread?', 'Rye bread');
  await expect.poll(() => kept.read('pod-1').turns).toHaveLength(2);
  await userEvent.click(screen.getByRole('button', { name: 'Regenerate the answer' }));
  await vi.waitFor(() => expect(asked).toHaveLength(2));
  says('Spelt bread');
  const { turns } = kept.read('pod-1');
  await act(() =>
    kept.keepElsewhere('pod-1', { turns, settings: { ...initialSettings, system: 'Be brief' } }),
  );
  answer.close();
  await screen.findByRole('button', { name: 'Send' });
  await expect
    .poll(() => kept.read('pod-1').turns.map(({ content }) => content))
    .toEqual(['Which bread?', 'Spelt bread']);
  expect(kept.read('pod-1').settings.system).toBe('Be brief');
});
