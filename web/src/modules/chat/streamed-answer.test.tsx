import type { Endpoint } from '@bakehouse/contract/endpoint';
import { QueryClientProvider } from '@tanstack/react-query';
import { act, render, renderHook, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { setCredentials } from '../../lib/api/credentials.ts';
import { queryClient } from '../../lib/api/query-client.ts';
import { MarkdownLines } from '../../ui/markdown.tsx';
import { UserContext } from '../accounts/session.ts';
import { streamChat } from './chat.ts';
import { AddressedPlayground } from './testing/addressed-playground.tsx';
import { createFakeConversations } from './testing/create-fake-conversations.ts';
import { useConversation } from './use-conversation.ts';

vi.mock('./chat.ts', () => ({ streamChat: vi.fn<typeof streamChat>() }));
let kept = createFakeConversations();
vi.mock('../../lib/api/api-client.ts', () => ({
  call: async (endpoint: Endpoint, input: object) => kept.answer(endpoint, input) ?? { prices: [] },
}));
vi.mock('../../ui/markdown.tsx', () => ({
  MarkdownLines: vi.fn<typeof MarkdownLines>(({ text }) => <p>{text}</p>),
}));

/** Controls the fake model. */
let says: (text: string) => void;
let thinks: (text: string) => void;
let ends: () => void;
let fails: (error: Error) => void;

/** Callbacks for the next animation frame; a hidden tab never gets one. */
let frames: Map<number, FrameRequestCallback>;
const drawFrame = () => {
  const due = [...frames.values()];
  frames.clear();
  act(() => {
    for (const draw of due) draw(0);
  });
};

beforeEach(() => {
  kept = createFakeConversations();
  queryClient.clear();
  setCredentials({ userId: 'ada', apiKey: 'bk_ada' });
  vi.mocked(streamChat).mockImplementation(
    (_request, { onText, onThought = () => undefined }, signal) =>
      new Promise((resolve, reject) => {
        says = onText;
        thinks = onThought;
        ends = () => resolve({ speed: { firstTokenMs: 1, tokens: 2, tokensPerSecond: 3 } });
        fails = reject;
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      }),
  );
});
afterEach(() => vi.unstubAllGlobals());

const ID = crypto.randomUUID();

function ask() {
  frames = new Map();
  let asked = 0;
  vi.stubGlobal('requestAnimationFrame', (draw: FrameRequestCallback) => {
    asked += 1;
    frames.set(asked, draw);
    return asked;
  });
  vi.stubGlobal('cancelAnimationFrame', (id: number) => frames.delete(id));
  const { result, unmount } = renderHook(() =>
    useConversation(
      { userId: 'ada', model: 'pod-1', id: ID, modelName: 'rye' },
      { id: null, conversation: null, version: 0, save_id: null, is_kept: true },
    ),
  );
  act(() => void result.current.ask('Which bread?'));
  return { unmount, stop: () => result.current.stop(), answer: () => result.current.turns.at(-1) };
}

test('draws a streaming answer once per frame', () => {
  const { answer } = ask();
  act(() => {
    says('Rye ');
    says('br');
  });
  expect(answer()?.content).toBe('');
  expect(frames.size).toBe(1);
  drawFrame();
  expect(answer()?.content).toBe('Rye br');
  act(() => says('ead'));
  drawFrame();
  expect(answer()?.content).toBe('Rye bread');
});

test.each([
  ['ends', () => ends(), undefined],
  ['is stopped', (stop: () => void) => stop(), true],
  ['fails', () => fails(new Error('The model is away')), true],
])(
  'an answer that %s before the next frame is shown as far as it arrived',
  async (_how, finish, interrupted) => {
    const { answer, stop } = ask();
    act(() => says('Rye br'));
    await act(async () => finish(stop));
    expect(answer()).toMatchObject({ content: 'Rye br' });
    expect(answer()?.interrupted).toBe(interrupted);
    drawFrame();
    expect(answer()?.interrupted).toBe(interrupted);
  },
);

test('leaving the page between two frames keeps everything received', async () => {
  const { unmount } = ask();
  act(() => says('Rye br'));
  unmount();
  await expect
    .poll(() => kept.read('pod-1').turns.at(-1))
    .toMatchObject({
      content: 'Rye br',
      interrupted: true,
    });
});

test("folds the model's reasoning next to its answer and saves both", async () => {
  render(
    <QueryClientProvider client={queryClient}>
      <UserContext value={{ id: 'ada' } as never}>
        <AddressedPlayground model="pod-1" modelName="rye" device={undefined} />
      </UserContext>
    </QueryClientProvider>,
  );
  await userEvent.type(await screen.findByLabelText('Message'), 'Which bread?{Enter}');
  await screen.findByText('Thinking…');
  act(() => thinks('Something dark'));
  await screen.findByRole('button', { name: 'Thinking…' });
  expect(screen.getAllByText('Thinking…')).toHaveLength(1);
  act(() => says('Rye'));
  const thoughts = await screen.findByRole('button', { name: 'Thoughts' });
  expect(screen.queryByText('Something dark')).toBeNull();
  await userEvent.click(thoughts);
  expect(await screen.findByText('Something dark')).toBeTruthy();
  await act(async () => ends());
  await expect
    .poll(() => kept.read('pod-1').turns.at(-1))
    .toMatchObject({ content: 'Rye', thoughts: 'Something dark' });
});

test('earlier answers are not parsed again while another one streams', async () => {
  kept.keep('pod-1', {
    turns: [
      { role: 'user', content: 'Which bread?' },
      { role: 'assistant', content: 'Rye bread' },
    ],
  });
  render(
    <QueryClientProvider client={queryClient}>
      <UserContext value={{ id: 'ada' } as never}>
        <AddressedPlayground model="pod-1" modelName="rye" device={undefined} />
      </UserContext>
    </QueryClientProvider>,
  );
  const timesRead = () =>
    vi.mocked(MarkdownLines).mock.calls.filter(([{ text }]) => text === 'Rye bread').length;
  await screen.findByText('Rye bread');
  const before = timesRead();
  expect(before).toBeGreaterThan(0);
  await userEvent.type(screen.getByLabelText('Message'), 'Why?{Enter}');
  act(() => says('Because'));
  await screen.findByText('Because');
  act(() => says(' it keeps'));
  await screen.findByText('Because it keeps');
  expect(timesRead()).toBe(before);
});
