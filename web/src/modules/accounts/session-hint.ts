import { storedChoice } from '../../lib/stored-choice.ts';

/**
 * Whether a person was signed in here when the session was last read. It only decides what is painted before the
 * session is known; it opens nothing and says nothing about anybody.
 */
export const sessionHint = storedChoice('bakehouse.session', ['none', 'expected'], 'none');
