import { afterEach, expect, test, vi } from 'vitest';
import { saveReferralCode } from './save-referral-code.ts';

afterEach(() => vi.restoreAllMocks());

function cookieAfter(search: string): string | undefined {
  const set = vi.spyOn(document, 'cookie', 'set').mockImplementation(() => undefined);
  saveReferralCode(search);
  return set.mock.calls[0]?.[0];
}

test("stores the link's code for a month, for its own API call only", () => {
  expect(cookieAfter('?referral_code=ABCD2345&x=1')).toBe(
    'bakehouse.referral=abcd2345; Path=/api/referral; SameSite=Lax; Max-Age=2592000',
  );
});

test.each(['', '?referral_code=', '?referral_code=a%3B%20Path%3D/', `?referral_code=${'a'.repeat(41)}`])(
  'stores nothing for %s',
  (search) => {
    expect(cookieAfter(search)).toBeUndefined();
  },
);
