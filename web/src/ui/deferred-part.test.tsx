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

test('a part that cannot be had is said to be missing, the page stays, and it can be tried again', async () => {
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
  { when: 'the window has the focus again', happen: () => dispatchEvent(new Event('focus')) },
  { when: 'somebody goes to another page', happen: () => [...navigated].map((listener) => listener()) },
])('what could not be had comes by itself when $when', async ({ happen }) => {
  vi.useFakeTimers();
  const Curve = lostCurve();
  await show(
    <DeferredPart pending="Loading" unavailable="No curve yet">
      <Curve />
    </DeferredPart>,
  );
  // Within act, so that what listens does so before it happens.
  await act(() => vi.runAllTimersAsync());
  expect(screen.getByText('No curve yet')).toBeTruthy();
  isThere = true;
  await act(async () => happen());
  expect(screen.getByText('The curve')).toBeTruthy();
});
