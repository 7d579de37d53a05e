import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { linkSignals } from './link-signals.ts';

const listenersOf = ({ signal }: AbortController) => getEventListeners(signal, 'abort').length;

test('a linked signal aborts with the first of its signals, with its reason', () => {
  const [one, other] = [new AbortController(), new AbortController()];
  using linked = linkSignals(one.signal, other.signal);
  expect(linked.signal.aborted).toBe(false);
  other.abort(new Error('the server ends'));
  one.abort(new Error('too late'));
  expect(linked.signal.reason).toEqual(new Error('the server ends'));
});

test('a link to an aborted signal is aborted from the start', () => {
  using linked = linkSignals(new AbortController().signal, AbortSignal.abort('gone'));
  expect(linked.signal.reason).toBe('gone');
});

test('a disposed link leaves no listener on a long-lived signal', () => {
  const [closing, short] = [new AbortController(), new AbortController()];
  for (let piece = 0; piece < 1_000; piece += 1) {
    using linked = linkSignals(short.signal, closing.signal);
    expect([linked.signal.aborted, listenersOf(closing), listenersOf(short)]).toEqual([false, 1, 1]);
  }
  expect([listenersOf(closing), listenersOf(short)]).toEqual([0, 0]);
});
