import { PENDING_REFERRAL_COOKIE, PENDING_REFERRAL_PATH } from '@bakehouse/contract/pending-referral';

/** One month, because signing up with GitHub or confirming an address takes the user away from the page. */
const AGE_S = 30 * 24 * 60 * 60;

/** Stores the invitation code from the URL until sign-up, because users leave the landing page. */
export function saveReferralCode(search: string): void {
  const code = new URLSearchParams(search).get('referral_code');
  if (code === null || !/^[a-z0-9]{1,40}$/i.test(code)) return;
  const value = `${PENDING_REFERRAL_COOKIE}=${code.toLowerCase()}`;
  // biome-ignore lint/suspicious/noDocumentCookie: not every browser has the cookie store, and the first page does not wait
  document.cookie = `${value}; Path=${PENDING_REFERRAL_PATH}; SameSite=Lax; Max-Age=${AGE_S}`;
}
