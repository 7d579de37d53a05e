/*
 * Stores an invitation code until the visitor has signed up. Separate from the endpoints, because the web app
 * does this before it loads anything else.
 */

/** Cookie that stores the code. */
export const PENDING_REFERRAL_COOKIE = 'bakehouse.referral';
/** The cookie is sent only to this path. */
export const PENDING_REFERRAL_PATH = '/api/referral';
