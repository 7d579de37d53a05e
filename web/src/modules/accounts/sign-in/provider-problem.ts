const sentences = new Map([
  ['email_not_verified', 'The provider has not verified your email address. Verify it there and try again.'],
  ['email_does_not_match', 'Your address there is not the one of this account.'],
  ['account_already_linked_to_different_user', 'It is linked to another Bakehouse account already.'],
  ['rate_limited', 'Too many accounts were made in the last hour. Try again later.'],
  ['access_denied', 'You did not allow it.'],
]);

/** What to say of the code with which a provider's page comes back. */
export function providerProblem(code: string): string {
  return sentences.get(code) ?? 'The provider did not answer as expected. Please try again.';
}
