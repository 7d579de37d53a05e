import { PASSWORD_LENGTH_MAX, PASSWORD_LENGTH_MIN } from '@bakehouse/contract/accounts';
import { tooLong } from '@bakehouse/contract/labels';
import { ApiError } from '../../../lib/api/api-error.ts';

/** Returns why this is not a valid password, in the server's words; otherwise null. */
export function passwordProblem(password: string): string | null {
  if (password.length < PASSWORD_LENGTH_MIN) {
    return `Password must have at least ${PASSWORD_LENGTH_MIN} characters`;
  }
  return password.length > PASSWORD_LENGTH_MAX ? tooLong('Password', PASSWORD_LENGTH_MAX) : null;
}

/** Returns true if the server rejected the password as too common. */
export function isCommonPassword(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'password_too_common';
}
