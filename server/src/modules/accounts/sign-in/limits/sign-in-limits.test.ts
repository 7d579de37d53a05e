import { expect, test } from 'vitest';
import { makeDeviceCookie, readDeviceCookie } from './sign-in-limits.ts';

const secret = 'only-for-tests-only-for-tests-only';

test('a device cookie works only for its address, in any spelling, and under the same secret', () => {
  const [cookie] = makeDeviceCookie('Ada@Example.com', { secret, isSecure: true }).split('; ');
  expect(readDeviceCookie(cookie, { email: 'ada@example.com', secret })).toMatch(/^[\w-]{22}$/);
  expect(readDeviceCookie(cookie, { email: 'bob@example.com', secret })).toBeNull();
  expect(readDeviceCookie(cookie, { email: 'ada@example.com', secret: `${secret}!` })).toBeNull();
  expect(readDeviceCookie(`${cookie}A`, { email: 'ada@example.com', secret })).toBeNull();
});

test('a year-old device cookie still works', () => {
  const cookie = 'bakehouse.device=UjsdxzcqohKnE1SAahXB2g._6jye81whjNcrcNCEiPowCgXfZrBVZjm5Hdh_fFNYNc';
  const email = 'ada@example.com';
  expect(readDeviceCookie(`theme=dark; ${cookie}`, { email, secret })).toBe('UjsdxzcqohKnE1SAahXB2g');
});
