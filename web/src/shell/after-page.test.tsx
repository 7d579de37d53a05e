import { act, render, screen } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { queryClient } from '../lib/api/query-client.ts';
import { AfterPage } from './after-page.tsx';

const waiting: (() => void)[] = [];

beforeEach(() => {
  waiting.length = 0;
  vi.stubGlobal('requestIdleCallback', (work: () => void) => waiting.push(work));
  vi.stubGlobal('cancelIdleCallback', () => undefined);
});

afterEach(() => {
  vi.useRealTimers();
  queryClient.clear();
});

function show() {
  render(
    <>
      <h1>Dashboard</h1>
      <AfterPage>
        <p>Two tasks in progress</p>
      </AfterPage>
    </>,
  );
  expect(screen.getByRole('heading')).toBeTruthy();
}

const idle = () =>
  act(() => {
    for (const work of waiting.splice(0)) work();
  });

const pass = (ms: number) =>
  act(() => {
    vi.advanceTimersByTime(ms);
  });

const after = () => screen.queryByText('Two tasks in progress');

test('what comes after the page is not rendered along with it, but once the browser is idle', () => {
  show();
  expect(after()).toBeNull();
  idle();
  idle();
  expect(after()).toBeTruthy();
});

test('it waits until the page has what it reads', async () => {
  show();
  const answer = Promise.withResolvers<string>();
  const read = queryClient.fetchQuery({ queryKey: ['balance'], queryFn: () => answer.promise });
  idle();
  idle();
  expect(after()).toBeNull();
  answer.resolve('5');
  await read;
  idle();
  expect(after()).toBeTruthy();
});

test('but no longer than three seconds', () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  show();
  queryClient
    .fetchQuery({ queryKey: ['balance'], queryFn: () => new Promise(() => {}) })
    .catch(() => undefined);
  idle();
  pass(2_999);
  expect(after()).toBeNull();
  pass(1);
  expect(after()).toBeTruthy();
});

test('nor for a browser that is never idle', () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  show();
  pass(3_000);
  expect(after()).toBeTruthy();
});
