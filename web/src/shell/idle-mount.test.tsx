import { act, render, screen } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { queryClient } from '../lib/api/query-client.ts';
import { IdleMount } from './idle-mount.tsx';

const waiting: (() => void)[] = [];

beforeEach(() => {
  waiting.length = 0;
  vi.stubGlobal('requestIdleCallback', (work: () => void, { timeout }: { timeout: number }) => {
    waiting.push(work);
    setTimeout(() => waiting.includes(work) && work(), timeout);
  });
  vi.stubGlobal('cancelIdleCallback', () => undefined);
});

afterEach(() => {
  vi.useRealTimers();
  queryClient.clear();
});

const preload = async () => {};

function show() {
  render(
    <>
      <h1>Dashboard</h1>
      <IdleMount preload={preload}>
        <p>Two tasks in progress</p>
      </IdleMount>
    </>,
  );
  expect(screen.getByRole('heading')).toBeTruthy();
}

const idle = () =>
  act(async () => {
    for (const work of waiting.splice(0)) work();
  });

const pass = (ms: number) =>
  act(async () => {
    vi.advanceTimersByTime(ms);
  });

const after = () => screen.queryByText('Two tasks in progress');

test('renders after the page, once the browser is idle', async () => {
  show();
  expect(after()).toBeNull();
  await idle();
  await idle();
  expect(after()).toBeTruthy();
});

test("waits until the page's queries have loaded", async () => {
  show();
  const answer = Promise.withResolvers<string>();
  const read = queryClient.fetchQuery({ queryKey: ['balance'], queryFn: () => answer.promise });
  await idle();
  await idle();
  expect(after()).toBeNull();
  answer.resolve('5');
  await read;
  await idle();
  expect(after()).toBeTruthy();
});

test('each part renders in its own idle callback', async () => {
  const parts = ['Tasks', 'Bell'];
  render(
    <>
      {parts.map((part) => (
        <IdleMount key={part} preload={preload}>
          <p>{part}</p>
        </IdleMount>
      ))}
    </>,
  );
  const shown = () => parts.filter((part) => screen.queryByText(part));
  await idle();
  await idle();
  expect(shown()).toEqual(['Tasks']);
  await idle();
  expect(shown()).toEqual(parts);
});

test("waits for the page's queries for at most three seconds", async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  show();
  queryClient
    .fetchQuery({ queryKey: ['balance'], queryFn: () => new Promise(() => {}) })
    .catch(() => undefined);
  await idle();
  await pass(2_999);
  await idle();
  expect(after()).toBeNull();
  await pass(1);
  await idle();
  expect(after()).toBeTruthy();
});

test('renders in a browser that is never idle', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  show();
  await pass(3_000);
  await pass(3_000);
  expect(after()).toBeTruthy();
});
