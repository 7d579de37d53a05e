import { act, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { SearchInput } from './search-input.tsx';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const onChange = vi.fn();
beforeEach(() => onChange.mockClear());

/** A slow page: it receives the text only through `give`. */
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

test('sends typed text 300 ms after the last keystroke', () => {
  open();
  type('r');
  wait(299);
  type('ry');
  wait(299);
  expect(sent()).toEqual([]);
  wait(1);
  expect(sent()).toEqual(['ry']);
});

test('a rerender does not delay sending', () => {
  const { give } = open();
  type('r');
  wait(200);
  give('');
  wait(100);
  expect(sent()).toEqual(['r']);
});

test('keeps letters typed before the page has applied the earlier ones', () => {
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

test('the field follows the URL when Back or a cleared filter changes it', () => {
  const { give } = open();
  type('rye');
  wait(300);
  give('rye');
  give('');
  expect(field().value).toBe('');
  wait(1000);
  expect(sent()).toEqual(['rye']);
});

test('text cleared before the page applied it does not reappear', () => {
  const { give } = open();
  type('rye');
  wait(300);
  fireEvent.click(screen.getByRole('button', { name: 'Clear the search' }));
  expect(sent()).toEqual(['rye', '']);
  wait(1000);
  expect(sent()).toEqual(['rye', '']);
  // Later, Back returns to a page with this search.
  give('rye');
  expect(field().value).toBe('rye');
});
