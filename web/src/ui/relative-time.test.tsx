import { act, render, screen } from '@testing-library/react';
import { afterEach, expect, it, vi } from 'vitest';
import { RelativeTime } from './relative-time.tsx';

afterEach(() => vi.useRealTimers());

it('all visible times update with one timer, which stops with the last', () => {
  vi.useFakeTimers();
  const at = new Date();
  const { unmount } = render(
    <>
      <p>
        <RelativeTime at={at} />
      </p>
      <p>
        seen <RelativeTime at={at.toISOString()} inSentence />
      </p>
    </>,
  );
  expect(vi.getTimerCount()).toBe(1);
  screen.getByText('seen just now');
  act(() => void vi.advanceTimersByTime(3 * 60_000));
  screen.getByText('3 minutes ago');
  screen.getByText('seen 3 minutes ago');
  unmount();
  expect(vi.getTimerCount()).toBe(0);
});
