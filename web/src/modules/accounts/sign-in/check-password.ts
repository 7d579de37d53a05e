import { PASSWORD_LENGTH_MAX, PASSWORD_LENGTH_MIN } from '@bakehouse/contract/accounts';
import { tooLong } from '@bakehouse/contract/labels';
import { ApiError } from '../../../lib/api/api-error.ts';

/** Why this cannot be a password, in the server's words; null when it can. */
export function refusePassword(password: string): string | null {
  if (password.length < PASSWORD_LENGTH_MIN) {
    return `Password must have at least ${PASSWORD_LENGTH_MIN} characters`;
  }
  return password.length > PASSWORD_LENGTH_MAX ? tooLong('Password', PASSWORD_LENGTH_MAX) : null;
}

/** Whether the server refused a new password that too many people use. */
export function isCommonPassword(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'password_too_common';
}
