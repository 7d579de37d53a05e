import { useQuery } from '@tanstack/react-query';
import { Card } from '../../ui/card.tsx';
import { Figure } from '../../ui/figure.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { LoadingRegion, Skeleton } from '../../ui/skeleton.tsx';
import { ownSignInMethodsQuery, useUser } from './api.ts';
import { ChangePasswordForm } from './change-password-form.tsx';
import { providerNames } from './provider-names.ts';

const names = new Map(Object.entries(providerNames));

/** Who one is here, and the password. */
export function ProfilePage() {
  const user = useUser();
  return (
    <>
      <PageHeader title="Profile" />
      <div className="grid grid-cols-1 gap-6">
        <Card title="Account">
          <dl className="grid gap-x-6 gap-y-4 sm:grid-cols-3">
            <Figure label="Username" note="Other users can send you credits by this name.">
              {user.username}
            </Figure>
            <Figure label="Name">{user.name}</Figure>
            <Figure label="Email">{user.email}</Figure>
          </dl>
        </Card>
        <Card title="Password">
          <Password />
        </Card>
      </div>
    </>
  );
}

/** Who came by GitHub or Google alone has none to change. */
function Password() {
  return (
    <QueryView
      query={useQuery(ownSignInMethodsQuery)}
      failed="Your sign-in methods could not be read"
      pending={
        <LoadingRegion className="grid max-w-sm gap-4">
          <Skeleton className="h-15" />
          <Skeleton className="h-15" />
          <Skeleton className="h-9 w-40" />
        </LoadingRegion>
      }
      compact
    >
      {(methods) =>
        methods.some(({ providerId }) => providerId === 'credential') ? (
          <ChangePasswordForm />
        ) : (
          <p className="text-muted">
            You sign in with{' '}
            {methods.map(({ providerId }) => names.get(providerId) ?? providerId).join(' and ')}: this account
            has no password.
          </p>
        )
      }
    </QueryView>
  );
}
