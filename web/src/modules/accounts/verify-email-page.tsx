import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { MailCheck } from 'lucide-react';
import { ButtonLink } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { LoadingRegion, Skeleton } from '../../ui/skeleton.tsx';
import { verifyEmailQuery } from './sign-in/sign-in-calls.ts';

/** The target of the mailed link that confirms an address. */
export function VerifyEmailPage() {
  const { token } = useSearch({ from: '/app/verify-email' });
  return (
    <>
      <PageHeader title="Confirm your address" />
      <Card>
        <QueryView
          query={useQuery(verifyEmailQuery(token ?? ''))}
          failed="Your address could not be confirmed"
          pending={
            <LoadingRegion className="grid justify-items-center gap-3 py-14">
              <Skeleton className="size-11" />
              <Skeleton className="h-5 w-56" />
            </LoadingRegion>
          }
        >
          {() => (
            <EmptyState
              icon={<MailCheck aria-hidden />}
              title="Your email address is confirmed"
              action={
                <ButtonLink to="/dashboard" variant="primary">
                  Go to the dashboard
                </ButtonLink>
              }
            />
          )}
        </QueryView>
      </Card>
    </>
  );
}
