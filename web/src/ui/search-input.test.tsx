import { act, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { SearchInput } from './search-input.tsx';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const onChange = vi.fn();
beforeEach(() => onChange.mockClear());

/** A page that takes its time: it has the text only when it is given it. */
function open() {
  const search = (value: string) => <SearchInput label="Search runs" value={value} onChange={onChange} />;
  const { rerender } = render(search(''));
  return { give: (value: string) => rerender(search(value)) };
}

const field = () => screen.getByLabelText<HTMLInputElement>('Search runs');
const type = (text: string) => fireEvent.change(field(), { target: { value: text } });
function wait(ms: number): void {
  act(() => {
    vi.advanceTimersByTime(ms);
  });
}
const sent = () => onChange.mock.calls.map(([text]) => text);

test('what is typed is sent 300 ms after the last letter', () => {
  open();
  type('r');
  wait(299);
  type('ry');
  wait(299);
  expect(sent()).toEqual([]);
  wait(1);
  expect(sent()).toEqual(['ry']);
});

test('a page that renders again meanwhile does not delay it', () => {
  const { give } = open();
  type('r');
  wait(200);
  give('');
  wait(100);
  expect(sent()).toEqual(['r']);
});

test('no letter is lost while the page still takes the letters before it', () => {
  const { give } = open();
  type('r');
  wait(300);
  type('ry');
  give('r');
  expect(field().value).toBe('ry');
  wait(300);
  type('rye');
  wait(300);
  give('ry');
  expect(field().value).toBe('rye');
  give('rye');
  wait(1000);
  expect(sent()).toEqual(['r', 'ry', 'rye']);
});

test('the field follows what Back or a cleared filter makes of it', () => {
  const { give } = open();
  type('rye');
  wait(300);
  give('rye');
  give('');
  expect(field().value).toBe('');
  wait(1000);
  expect(sent()).toEqual(['rye']);
});

test('what was cleared before the page had it does not come back', () => {
  const { give } = open();
  type('rye');
  wait(300);
  fireEvent.click(screen.getByRole('button', { name: 'Clear the search' }));
  expect(sent()).toEqual(['rye', '']);
  wait(1000);
  expect(sent()).toEqual(['rye', '']);
  // Later, Back leads to a page that was searched like that.
  give('rye');
  expect(field().value).toBe('rye');
});
