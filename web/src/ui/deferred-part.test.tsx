import { act, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import type { ReactNode } from 'react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { loadable } from '../lib/loadable.tsx';
import { DeferredPart } from './deferred-part.tsx';

const navigated = vi.hoisted(() => new Set<() => void>());
vi.mock('@tanstack/react-router', async (original) => ({
  ...(await original<typeof import('@tanstack/react-router')>()),
  useRouter: () => ({
    subscribe: (_: 'onResolved', listener: () => void) => {
      navigated.add(listener);
      return () => navigated.delete(listener);
    },
  }),
}));
vi.mock('../lib/served-build.ts', () => ({ isOutdated: async () => false }));

let isThere: boolean;
beforeEach(() => {
  isThere = false;
  vi.spyOn(console, 'error').mockReturnValue();
});
afterEach(() => vi.useRealTimers());

const lostCurve = () =>
  loadable(async () => {
    if (!isThere) throw new TypeError('Failed to fetch dynamically imported module');
    return () => <p>The curve</p>;
  });

const show = (part: ReactNode) =>
  act(async () => {
    render(
      <>
        <p>The page</p>
        {part}
      </>,
    );
  });

test('shows an error in place of a part that fails to load, keeps the page and allows a retry', async () => {
  const Curve = lostCurve();
  await show(
    <DeferredPart pending="Loading">
      <Curve />
    </DeferredPart>,
  );
  await screen.findByText('This part of the page could not be loaded');
  expect(screen.getByText('The page')).toBeTruthy();
  isThere = true;
  await act(() => userEvent.click(screen.getByRole('button', { name: 'Try again' })));
  expect(await screen.findByText('The curve')).toBeTruthy();
});

test.for([
  { when: 'the window regains focus', happen: () => dispatchEvent(new Event('focus')) },
  { when: 'the user navigates to another page', happen: () => [...navigated].map((listener) => listener()) },
])('retries a failed load automatically when $when', async ({ happen }) => {
  vi.useFakeTimers();
  const Curve = lostCurve();
  await show(
    <DeferredPart pending="Loading" unavailable="No curve yet">
      <Curve />
    </DeferredPart>,
  );
  // Inside act, so that listeners subscribe before the event.
  await act(() => vi.runAllTimersAsync());
  expect(screen.getByText('No curve yet')).toBeTruthy();
  isThere = true;
  await act(async () => happen());
  expect(screen.getByText('The curve')).toBeTruthy();
});
