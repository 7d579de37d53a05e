const sentences = new Map([
  ['email_not_verified', 'Your provider has not verified your email address. Verify it there and try again.'],
  ['email_does_not_match', "That email address does not match this account's."],
  ['account_already_linked_to_different_user', 'It is already linked to another Bakehouse account.'],
  ['rate_limited', 'Too many accounts were created in the last hour. Try again later.'],
  [
    'sign_in_method_gone',
    'This sign-in method was removed from the account. Sign in another way, or reset your password.',
  ],
  ['access_denied', 'You did not grant access.'],
]);

/** Returns the message for the error code that a provider returns. */
export function providerProblem(code: string): string {
  return sentences.get(code) ?? 'The provider did not answer as expected. Please try again.';
}
