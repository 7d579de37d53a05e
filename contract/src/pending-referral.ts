/*
 * An invitation's code on its way over sign-up. Apart from the endpoints, because the web app keeps it before
 * anything else is loaded.
 */

/** The cookie that the web app keeps it in. */
export const PENDING_REFERRAL_COOKIE = 'bakehouse.referral';
/** The one path that the cookie is sent to. */
export const PENDING_REFERRAL_PATH = '/api/referral';
