import { PASSWORD_LENGTH_MAX, PASSWORD_LENGTH_MIN } from '@bakehouse/contract/accounts';

/** Why this cannot be a password, in the server's words; null when it can. */
export function refusePassword(password: string): string | null {
  if (password.length < PASSWORD_LENGTH_MIN) {
    return `Password must have at least ${PASSWORD_LENGTH_MIN} characters`;
  }
  return password.length > PASSWORD_LENGTH_MAX
    ? `Password must have at most ${PASSWORD_LENGTH_MAX} characters`
    : null;
}
