import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { generateReferral } from '@bakehouse/contract/referrals';
import { useQuery } from '@tanstack/react-query';
import { UserPlus } from 'lucide-react';
import { formatDateTime } from '../../lib/format/format-time.ts';
import { Card } from '../../ui/card.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Field } from '../../ui/field.tsx';
import { Figure } from '../../ui/figure.tsx';
import { Input } from '../../ui/input.tsx';
import { Money } from '../../ui/money.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { LoadingRegion, Skeleton } from '../../ui/skeleton.tsx';
import { referralQuery } from './referral-calls.ts';
import { ShareOnX } from './share-on-x.tsx';

type Referral = ResponseOf<typeof generateReferral>;

/** The user's invitation, and who has joined through it. */
export function InvitePage() {
  return (
    <>
      <PageHeader title="Invite friends" />
      <QueryView
        query={useQuery(referralQuery)}
        failed="Your invitation could not be loaded"
        pending={<Pending />}
      >
        {(referral) => (
          <div className="grid grid-cols-1 gap-6">
            <Figures referral={referral} />
            <Invitation referral={referral} />
            <Joined referral={referral} />
          </div>
        )}
      </QueryView>
    </>
  );
}

function Figures({ referral }: { referral: Referral }) {
  return (
    <dl className="grid gap-3 sm:grid-cols-3">
      <Figure card label="Bonus for each of you">
        <Money bgl={referral.bonus} />
      </Figure>
      <Figure card label="Friends who joined">
        {referral.referrals_total} of {referral.referrals_max}
      </Figure>
      <Figure card label="Earned so far">
        <Money bgl={referral.earned} />
      </Figure>
    </dl>
  );
}

function Invitation({ referral }: { referral: Referral }) {
  const { referral_link: link, referral_code: code, referrals_max: max } = referral;
  return (
    <Card
      title="Your invitation"
      description={
        <>
          When a friend signs up with your link, you both get <Money bgl={referral.bonus} />. This applies to
          new accounts only, and to your first {max === 1 ? 'friend' : `${max} friends`}.
        </>
      }
    >
      <div className="grid gap-4">
        <div className="flex flex-wrap items-end gap-2">
          <Field label="Link" className="min-w-0 flex-1 basis-64">
            <Input readOnly value={link} onFocus={(event) => event.currentTarget.select()} />
          </Field>
          <CopyButton text={link} label="Copy link" withText />
        </div>
        <ShareOnX code={code} link={link} />
      </div>
    </Card>
  );
}

function Joined({ referral: { referrals } }: { referral: Referral }) {
  if (referrals.length === 0) {
    return (
      <Card>
        <EmptyState
          icon={<UserPlus aria-hidden />}
          title="No one has joined yet"
          description="Share your link with friends or colleagues. They appear here once they have signed up."
        />
      </Card>
    );
  }
  return (
    <Card title="Friends who joined" flush>
      <ul className="divide-y divide-line border-line border-t">
        {referrals.map(({ username, joined_at, bonus }) => (
          <li key={username} className="flex items-center justify-between gap-4 px-5 py-3">
            <div className="min-w-0">
              <p className="truncate font-medium">{username}</p>
              <p className="text-compact text-muted">{formatDateTime(new Date(joined_at))}</p>
            </div>
            <span className="text-good">
              +<Money bgl={bonus} />
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Pending() {
  return (
    <LoadingRegion className="grid gap-6">
      <div className="grid gap-3 sm:grid-cols-3">
        <Skeleton className="h-17" />
        <Skeleton className="h-17" />
        <Skeleton className="h-17" />
      </div>
      <Skeleton className="h-52" />
      <Skeleton className="h-56" />
    </LoadingRegion>
  );
}
