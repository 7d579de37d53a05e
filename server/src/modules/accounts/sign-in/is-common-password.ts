import { dictionary } from '@zxcvbn-ts/language-common';

const common = new Set(dictionary['passwords-common']);

/** Whether a password is among the 50,000 that people choose most, and that are guessed first. */
export function isCommonPassword(password: string): boolean {
  return common.has(password.toLowerCase());
}
