import { fireEvent, render, screen } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { useStickToBottom } from './use-stick-to-bottom.ts';

const WINDOW_PX = 100;

/** Says that the content has grown. */
let grown: () => void;

beforeEach(() =>
  vi.stubGlobal(
    'ResizeObserver',
    class {
      constructor(callback: () => void) {
        grown = callback;
      }
      observe() {}
      disconnect() {}
    },
  ),
);
afterEach(() => vi.unstubAllGlobals());

function Log() {
  const { box, content, onScroll, follow } = useStickToBottom();
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
    /** The browser tells of a scroll later, when more may have come. */
    growBeforeScrollIsHeard: (to: number) => {
      height = to;
      fireEvent.scroll(log);
      grown();
    },
    top: () => log.scrollTop,
  };
}

test('the end stays in sight unless somebody has scrolled up, until they are at the end again', () => {
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

test('what comes before a scroll to the end is heard of is no scrolling up', () => {
  const { growTo, growBeforeScrollIsHeard, top } = open();
  growTo(300);
  growBeforeScrollIsHeard(700);
  expect(top()).toBe(700);
});

test('who asks for the end has it in sight again', () => {
  const { growTo, scrollTo, top } = open();
  growTo(300);
  scrollTo(0);
  fireEvent.click(screen.getByRole('button', { name: 'To the end' }));
  expect(top()).toBe(300);
  growTo(400);
  expect(top()).toBe(400);
});
