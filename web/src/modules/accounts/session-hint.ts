import { storedChoice } from '../../lib/stored-choice.ts';

/**
 * True if a user was signed in when the session was last read. Only decides what is painted before the
 * session is known; contains no personal data and grants no access.
 */
export const sessionHint = storedChoice('bakehouse.session', ['none', 'expected'], 'none');
