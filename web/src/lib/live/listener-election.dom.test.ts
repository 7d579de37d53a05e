import { afterEach, expect, it, vi } from 'vitest';
import { electListener } from './listener-election.ts';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

it('if the browser denies locks, a page listens only while visible', async () => {
  const request = vi.fn<() => Promise<void>>(() => Promise.reject(new DOMException('', 'SecurityError')));
  vi.stubGlobal('navigator', { locks: { request } });
  const hidden = vi.spyOn(document, 'hidden', 'get').mockReturnValue(false);
  const look = () => document.dispatchEvent(new Event('visibilitychange'));
  const ending = new AbortController();
  const place = electListener(ending.signal);
  expect(place.may()).toBe(true);
  hidden.mockReturnValue(true);
  look();
  await vi.waitFor(() => expect(place.may()).toBe(false));
  look();
  hidden.mockReturnValue(false);
  look();
  await Promise.resolve();
  expect(place.may()).toBe(true);
  ending.abort();
});
