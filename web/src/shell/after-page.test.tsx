import { act, render, screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { AfterPage } from './after-page.tsx';

test('what comes after the page is not rendered along with it, but once the browser is idle', () => {
  const waiting: (() => void)[] = [];
  vi.stubGlobal('requestIdleCallback', (work: () => void) => waiting.push(work));
  vi.stubGlobal('cancelIdleCallback', () => undefined);
  render(
    <>
      <h1>Dashboard</h1>
      <AfterPage>
        <p>Two tasks in progress</p>
      </AfterPage>
    </>,
  );
  expect(screen.getByRole('heading')).toBeTruthy();
  expect(screen.queryByText('Two tasks in progress')).toBeNull();
  act(() => {
    for (const work of waiting) work();
  });
  expect(screen.getByText('Two tasks in progress')).toBeTruthy();
});
