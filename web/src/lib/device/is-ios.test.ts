import { afterEach, expect, test, vi } from 'vitest';
import { isIos } from './is-ios.ts';

afterEach(() => vi.unstubAllGlobals());

test.each([
  ['an iPhone', 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X)', 5, true],
  ['an iPad that identifies as a Mac', 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)', 5, true],
  ['a Mac', 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)', 0, false],
  ['a desktop', 'Mozilla/5.0 (X11; Linux x86_64)', 0, false],
])('%s', (_name, userAgent, maxTouchPoints, expected) => {
  vi.stubGlobal('navigator', { userAgent, maxTouchPoints });
  expect(isIos()).toBe(expected);
});
