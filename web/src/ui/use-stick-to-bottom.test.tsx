import { fireEvent, render, screen } from '@testing-library/react';
import { useState } from 'react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { useStickToBottom } from './use-stick-to-bottom.ts';

const WINDOW_PX = 100;

/** Simulates content growth. */
let grown: () => void;

beforeEach(() =>
  vi.stubGlobal(
    'ResizeObserver',
    class {
      readonly callback: () => void;
      constructor(callback: () => void) {
        this.callback = callback;
      }
      observe() {
        grown = this.callback;
      }
      disconnect() {}
    },
  ),
);
afterEach(() => vi.unstubAllGlobals());

function Log() {
  const { box, content, onScroll, follow } = useStickToBottom();
  const [isReady, setReady] = useState(false);
  // The log mounts later than the component with the hook.
  if (!isReady)
    return (
      <button type="button" onClick={() => setReady(true)}>
        Open
      </button>
    );
  return (
    <>
      <div ref={box} role="log" onScroll={onScroll}>
        <div ref={content} />
      </div>
      <button type="button" onClick={follow}>
        To the end
      </button>
    </>
  );
}

function open() {
  render(<Log />);
  fireEvent.click(screen.getByRole('button', { name: 'Open' }));
  const log = screen.getByRole('log');
  let height = 0;
  Object.defineProperties(log, {
    clientHeight: { value: WINDOW_PX },
    scrollHeight: { get: () => height },
  });
  const growTo = (to: number) => {
    height = to;
    grown();
  };
  return {
    growTo,
    scrollTo: (top: number) => {
      log.scrollTop = top;
      fireEvent.scroll(log);
    },
    /** Browsers dispatch scroll events late, when more content may have arrived. */
    growBeforeScrollIsHeard: (to: number) => {
      height = to;
      fireEvent.scroll(log);
      grown();
    },
    top: () => log.scrollTop,
  };
}

test('keeps the end visible until the user scrolls up, and again after they return to the end', () => {
  const { growTo, scrollTo, top } = open();
  growTo(300);
  expect(top()).toBe(300);
  scrollTo(120);
  growTo(400);
  expect(top()).toBe(120);
  scrollTo(300);
  growTo(500);
  expect(top()).toBe(500);
});

test('content that arrives before the scroll event does not count as scrolling up', () => {
  const { growTo, growBeforeScrollIsHeard, top } = open();
  growTo(300);
  growBeforeScrollIsHeard(700);
  expect(top()).toBe(700);
});

test('requesting the end scrolls back to it', () => {
  const { growTo, scrollTo, top } = open();
  growTo(300);
  scrollTo(0);
  fireEvent.click(screen.getByRole('button', { name: 'To the end' }));
  expect(top()).toBe(300);
  growTo(400);
  expect(top()).toBe(400);
});
