import { InfiniteQueryObserver } from '@tanstack/react-query';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { queryClient } from '../api/query-client.ts';
import { pagedQuery } from './paged-query.ts';
import { changeRefresher, refreshMissed } from './refresh-changed.ts';

const PAGE_LENGTH = 20;

type Run = { run_id: string; version: number };

/** The server's rows, newest first, and the requested cursors. */
let stored: Run[] = [];
let asked: (string | undefined)[] = [];

const read = async (cursor: string | undefined) => {
  asked.push(cursor);
  await new Promise((resolve) => setTimeout(resolve, 100));
  const from = cursor === undefined ? 0 : stored.findIndex(({ run_id }) => run_id === cursor) + 1;
  if (cursor !== undefined && from === 0) throw new Error(`cursor ${cursor} is no row`);
  const runs = stored.slice(from, from + PAGE_LENGTH);
  const isLast = from + PAGE_LENGTH >= stored.length;
  return { runs, next_cursor: isLast ? null : (runs.at(-1)?.run_id ?? null) };
};

const row = (number: number): Run => ({ run_id: `run ${number}`, version: 1 });
const rows = (first: number, end: number) =>
  Array.from({ length: end - first }, (_, index) => row(first + index));
const idsFrom = (first: number, end: number) => rows(first, end).map(({ run_id }) => run_id);

const NEWEST_FIRST: { newestFirst?: boolean } = { newestFirst: true };
/** A mounted list with `pages` pages loaded. */
async function open({ pages = 10, order = NEWEST_FIRST } = {}) {
  const query = pagedQuery({ queryKey: ['run', 'list'], rows: 'runs', id: 'run_id', ...order, read });
  const list = new InfiniteQueryObserver(queryClient, query);
  stops.push(list.subscribe(() => undefined));
  await vi.advanceTimersByTimeAsync(200);
  for (let page = 1; page < pages; page += 1) {
    void list.fetchNextPage({ cancelRefetch: false });
    await vi.advanceTimersByTimeAsync(200);
  }
  asked = [];
  return list;
}

const stops: (() => void)[] = [];
const shown = (list: Awaited<ReturnType<typeof open>>) =>
  list.getCurrentResult().data?.pages.flatMap(({ runs }) => runs) ?? [];

beforeEach(() => {
  vi.useFakeTimers();
  stored = rows(0, 1_000);
});

afterEach(() => {
  for (const stop of stops.splice(0)) stop();
  queryClient.clear();
  vi.useRealTimers();
});

const hear = async (...ids: string[]) => {
  const change = changeRefresher(new AbortController().signal);
  for (const id of ids) change({ topic: 'run', id });
  await vi.advanceTimersByTimeAsync(5_000);
};

it('a changed row refetches its page and the first page only', async () => {
  const list = await open();
  stored[130] = { run_id: 'run 130', version: 2 };
  await hear('run 130');
  expect(asked).toEqual([undefined, 'run 119']);
  expect(shown(list)).toEqual(stored.slice(0, 200));
});

it('deleting a row of 500 pages costs two requests', async () => {
  stored = rows(0, 10_000);
  const list = await open({ pages: 500 });
  stored.splice(7_000, 1);
  await hear('run 7000');
  expect(asked).toHaveLength(2);
  expect(shown(list)).toEqual(stored.slice(0, shown(list).length));
});

it.each([
  ['new rows appear at the top', () => stored.unshift(row(-2), row(-1)), ['run -2', 'run -1'], 1],
  ['a row moves to the top', () => stored.unshift(...stored.splice(77, 1)), ['run 77'], 2],
  ['the first row is deleted', () => stored.shift(), ['run 0'], 1],
  ['the last row of a page, the next cursor, is deleted', () => stored.splice(39, 1), ['run 39'], 2],
  ['a whole page is deleted', () => stored.splice(20, 20), idsFrom(20, 40), 2],
  ['more rows are added than fit on a page', () => stored.unshift(...rows(-30, 0)), idsFrom(-30, 0), 2],
])('nothing is missing, stale or duplicated if %s', async (_what, change, ids, requests) => {
  const list = await open({ pages: 5 });
  change();
  await hear(...ids);
  expect(asked.length).toBeLessThanOrEqual(requests + 1);
  expect(shown(list)).toEqual(stored.slice(0, shown(list).length));
  expect(shown(list).length).toBeGreaterThanOrEqual(80);
});

it("a page's cursor row was already deleted from the list", async () => {
  const list = await open({ pages: 3 });
  stored.splice(39, 1);
  queryClient.setQueryData(['run', 'list'], (data: ReturnType<typeof list.getCurrentResult>['data']) => ({
    pageParams: data?.pageParams ?? [],
    pages: (data?.pages ?? []).map((page) => ({
      ...page,
      runs: page.runs.filter(({ run_id }) => run_id !== 'run 39'),
    })),
  }));
  await hear('run 39');
  expect(asked).toEqual([undefined, 'run 19']);
  expect(shown(list)).toEqual(stored.slice(0, shown(list).length));
});

it('a sorted or filtered list is refetched up to ten pages, and continues from there', async () => {
  const list = await open({ pages: 12, order: { newestFirst: false } });
  stored.splice(215, 0, ...stored.splice(3, 1));
  await hear('run 3');
  expect(asked).toHaveLength(10);
  expect(shown(list)).toEqual(stored.slice(0, 200));
  expect(list.getCurrentResult().hasNextPage).toBe(true);
  void list.fetchNextPage({ cancelRefetch: false });
  await vi.advanceTimersByTimeAsync(200);
  await hear('run 5');
  expect(shown(list)).toEqual(stored.slice(0, 200));
  void list.fetchNextPage({ cancelRefetch: false });
  await vi.advanceTimersByTimeAsync(200);
  expect(shown(list)).toEqual(stored.slice(0, 220));
});

it('a list of unknown order keeps its rows beyond ten pages', async () => {
  const list = await open({ pages: 12, order: {} });
  await hear('run 3');
  expect(asked).toHaveLength(10);
  expect(shown(list)).toEqual(stored.slice(0, 240));
});

it('a row far down that is deleted while the list is hidden is gone when the list is visible again', async () => {
  await open({ pages: 15 });
  for (const stop of stops.splice(0)) stop();
  stored.splice(250, 1);
  await hear('run 250');
  const list = await open({ pages: 1 });
  await vi.advanceTimersByTimeAsync(5_000);
  expect(shown(list)).toEqual(stored.slice(0, shown(list).length));
  expect(shown(list).length).toBeGreaterThan(280);

  // Refetched once more with the next change, and then no longer.
  await hear('run 1');
  asked = [];
  await hear('run 1');
  expect(asked).toEqual([undefined]);
});

it('a row far down that changes during a full refetch is refetched afterwards', async () => {
  const list = await open({ pages: 15 });
  void list.refetch();
  await vi.advanceTimersByTimeAsync(50);
  stored[250] = { run_id: 'run 250', version: 2 };
  await hear('run 250');
  expect(asked.slice(10)).toEqual([undefined, 'run 239']);
  expect(shown(list)).toEqual(stored.slice(0, 300));
});

it('a run that reports every second does not refetch ten pages every second', async () => {
  await open();
  const change = changeRefresher(new AbortController().signal);
  for (let second = 0; second < 10; second += 1) {
    change({ topic: 'run', id: 'run 3' });
    await vi.advanceTimersByTimeAsync(1_000);
  }
  expect(asked.length).toBeLessThanOrEqual(10);
});

it('a change during the fetch of the next page neither cancels it nor is lost', async () => {
  const list = await open({ pages: 3 });
  void list.fetchNextPage({ cancelRefetch: false });
  await vi.advanceTimersByTimeAsync(50);
  stored = stored.map(({ run_id }) => ({ run_id, version: 2 }));
  refreshMissed();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(shown(list)).toEqual(stored.slice(0, 80));
});
