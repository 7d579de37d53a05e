import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { Callout } from '../../../ui/callout.tsx';
import { Card } from '../../../ui/card.tsx';
import { PageHeader } from '../../../ui/page-header.tsx';
import { TrackersCard } from '../../tracking/trackers-card.tsx';
import { providerProblem } from '../sign-in/provider-problem.ts';
import { AccountCard } from './account-card.tsx';
import { ChangePasswordForm } from './change-password-form.tsx';
import { DeleteAccountCard, ExportCard } from './privacy-cards.tsx';
import { ownSignInMethodsQuery } from './profile-calls.ts';
import { SessionsCard } from './sessions-card.tsx';
import { SignInMethodsCard } from './sign-in-methods-card.tsx';

/** The account, its sign-in methods and its sessions. */
export function ProfilePage() {
  const { error } = useSearch({ from: '/app/profile' });
  return (
    <>
      <PageHeader title="Profile" />
      <div className="grid grid-cols-1 gap-6">
        {error && (
          <Callout tone="bad" title="The account was not linked">
            {providerProblem(error)}
          </Callout>
        )}
        <AccountCard />
        <SignInMethodsCard />
        <Password />
        <SessionsCard />
        <TrackersCard />
        <ExportCard />
        <DeleteAccountCard />
      </div>
    </>
  );
}

/** Hidden for users without a password (GitHub, Google). Shown while loading, to avoid a layout shift. */
function Password() {
  const { data: methods } = useQuery(ownSignInMethodsQuery);
  if (methods && !methods.some(({ providerId }) => providerId === 'credential')) return null;
  return (
    <Card title="Password">
      <ChangePasswordForm />
    </Card>
  );
}
