import { useMutation } from '../../../lib/mutation/use-mutation.ts';
import { Button } from '../../../ui/button.tsx';
import { signInWith } from './sign-in-calls.ts';

/** Display names of the sign-in providers. */
export const providerNames = { github: 'GitHub', google: 'Google' };

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

/** Buttons for the configured providers; renders nothing if there are none. */
export function ProviderButtons({
  providers,
  returnTo,
}: {
  providers: ('github' | 'google')[];
  returnTo: string;
}) {
  const start = useMutation({
    mutationFn: (provider: 'github' | 'google') => signInWith(provider, returnTo),
  });
  if (providers.length === 0) return null;
  return (
    <>
      <p className="my-5 flex items-center gap-3 text-faint text-xs before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line">
        or
      </p>
      <div className="grid gap-2">
        {providers.map((provider) => (
          <Button
            key={provider}
            loading={start.isPending && start.variables === provider}
            onClick={() => start.mutate(provider)}
          >
            Continue with {providerNames[provider]}
          </Button>
        ))}
      </div>
    </>
  );
}

/** Returns the message for the error code that a provider returns. */
export function providerProblem(code: string): string {
  return sentences.get(code) ?? 'The provider did not answer as expected. Please try again.';
}
