/*
 * Carries an invitation code through sign-up. Separate from the endpoints because the web app stores it
 * before anything else is loaded.
 */

/** Cookie that stores the code. */
export const PENDING_REFERRAL_COOKIE = 'bakehouse.referral';
/** The only path to which the cookie is sent. */
export const PENDING_REFERRAL_PATH = '/api/referral';
