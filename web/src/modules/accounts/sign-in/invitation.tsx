import { parseBgl } from '@bakehouse/contract/money';
import { useQuery } from '@tanstack/react-query';
import { Callout } from '../../../ui/callout.tsx';
import { Money } from '../../../ui/money.tsx';
import { signInMethodsQuery } from './sign-in-calls.ts';

/** Explains the invitation that the visitor followed. */
export function Invitation() {
  const { data } = useQuery(signInMethodsQuery);
  if (!data) return null;
  return (
    <Callout title="You have been invited" className="mb-4">
      {parseBgl(data.referral_bonus) > 0n ? (
        <>
          Create an account, and you and the friend who invited you each get{' '}
          <Money bgl={data.referral_bonus} /> in credits.
        </>
      ) : (
        'Create an account to join the friend who invited you.'
      )}
    </Callout>
  );
}
