import type { Session } from '@bakehouse/contract/profile';
import { useQuery } from '@tanstack/react-query';
import { KeyRound, Link2, MonitorSmartphone } from 'lucide-react';
import { useState } from 'react';
import { queryClient } from '../../../lib/api/query-client.ts';
import { formatDateTime } from '../../../lib/format/format-time.ts';
import { describeBrowser } from '../../../lib/format/words.ts';
import { useMutation } from '../../../lib/mutation/use-mutation.ts';
import { Badge } from '../../../ui/badge.tsx';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { notify } from '../../../ui/notify.ts';
import { QueryView } from '../../../ui/query-view.tsx';
import { RelativeTime } from '../../../ui/relative-time.tsx';
import { ListSkeleton } from '../../../ui/skeleton.tsx';
import { providerNames } from '../sign-in/providers.tsx';
import { signInMethodsQuery } from '../sign-in/sign-in-calls.ts';
import {
  linkProvider,
  ownSignInMethodsQuery,
  type SignInMethod,
  sessionsQuery,
  unlinkMethod,
  useEndSessions,
} from './profile-calls.ts';

const names = new Map(Object.entries({ credential: 'Password', ...providerNames }));
const nameOf = (providerId: string) => names.get(providerId) ?? providerId;

/** The user's sessions. */
export function SessionsCard() {
  const sessions = useQuery(sessionsQuery);
  const [asking, setAsking] = useState(false);
  const end = useEndSessions();
  const others = sessions.data?.sessions.filter((session) => !session.is_current).length ?? 0;
  const endOthers = () =>
    end.mutate(null, {
      onSuccess: () => {
        setAsking(false);
        notify.success('You are signed out everywhere else');
      },
    });
  return (
    <Card
      title="Sessions"
      description="Browsers where you are signed in."
      actions={
        others > 0 && (
          <Button size="sm" onClick={() => setAsking(true)}>
            Sign out everywhere else
          </Button>
        )
      }
      flush
    >
      <QueryView
        query={sessions}
        failed="Your sessions could not be loaded"
        pending={<ListSkeleton rows={2} rowHeight={72} />}
        flush
        compact
      >
        {({ sessions: all }) => (
          <ul className="divide-y divide-line border-line border-t">
            {all.map((session) => (
              <SessionRow key={session.id} session={session} />
            ))}
          </ul>
        )}
      </QueryView>
      <ConfirmDialog
        open={asking}
        onOpenChange={setAsking}
        title="Sign out everywhere else?"
        description="All other browsers are signed out. Programs with an API key keep working."
        action="Sign out everywhere else"
        pending={end.isPending}
        onConfirm={endOthers}
      />
    </Card>
  );
}

function SessionRow({ session }: { session: Session }) {
  const end = useEndSessions();
  const browser = describeBrowser(session.user_agent);
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 px-5 py-3.5">
      <MonitorSmartphone aria-hidden className="size-5 shrink-0 text-faint" />
      <div className="min-w-0 flex-1 basis-52">
        <p className="flex flex-wrap items-center gap-2 font-medium">
          {browser}
          {session.is_current && <Badge tone="good">This browser</Badge>}
        </p>
        <p className="text-[0.8125rem] text-muted tabular-nums [overflow-wrap:anywhere]">
          {session.address && `${session.address} · `}
          {!session.is_current && (
            <>
              Last seen <RelativeTime at={session.last_seen_at} inSentence /> ·{' '}
            </>
          )}
          Signed in {formatDateTime(new Date(session.created_at))}
        </p>
      </div>
      {!session.is_current && (
        <Button
          size="sm"
          loading={end.isPending}
          aria-label={`Sign out in ${browser}, ${session.address}`}
          onClick={() => end.mutate(session.id)}
        >
          Sign out
        </Button>
      )}
    </li>
  );
}

/** The user's sign-in methods; the last one cannot be removed. */
export function SignInMethodsCard() {
  const own = useQuery(ownSignInMethodsQuery);
  const { data: offered } = useQuery(signInMethodsQuery);
  const providers = (offered?.methods ?? []).filter((method) => method !== 'password');
  const linkable = providers.filter((name) => !own.data?.some(({ providerId }) => providerId === name));
  return (
    <Card title="Sign-in methods" flush>
      <QueryView
        query={own}
        failed="Your sign-in methods could not be loaded"
        pending={<ListSkeleton rows={1} rowHeight={72} />}
        flush
        compact
      >
        {(methods) => (
          <ul className="divide-y divide-line border-line border-t">
            {methods.map((method) => (
              <MethodRow key={method.id} method={method} isLast={methods.length === 1} />
            ))}
            {linkable.map((provider) => (
              <LinkRow key={provider} provider={provider} />
            ))}
          </ul>
        )}
      </QueryView>
    </Card>
  );
}

function MethodRow({ method, isLast }: { method: SignInMethod; isLast: boolean }) {
  const [asking, setAsking] = useState(false);
  const name = nameOf(method.providerId);
  const unlink = useMutation({
    mutationFn: async () => {
      await unlinkMethod(method.id);
      await queryClient.invalidateQueries({ queryKey: ownSignInMethodsQuery.queryKey });
    },
    onSuccess: () => setAsking(false),
    meta: { title: `${name} could not be removed` },
  });
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 px-5 py-3.5">
      <KeyRound aria-hidden className="size-5 shrink-0 text-faint" />
      <div className="min-w-0 flex-1 basis-40">
        <p className="font-medium">{name}</p>
        <p className="text-[0.8125rem] text-muted">Since {formatDateTime(new Date(method.createdAt))}</p>
      </div>
      {!isLast && (
        <Button size="sm" aria-label={`Remove ${name}`} onClick={() => setAsking(true)}>
          Remove
        </Button>
      )}
      <ConfirmDialog
        open={asking}
        onOpenChange={setAsking}
        title={`Remove ${name}?`}
        description={`You will no longer be able to sign in with ${name === 'Password' ? 'your password' : name}. Other ways to sign in stay.`}
        action="Remove"
        pending={unlink.isPending}
        onConfirm={() => unlink.mutate()}
      />
    </li>
  );
}

function LinkRow({ provider }: { provider: 'github' | 'google' }) {
  const link = useMutation({
    mutationFn: () => linkProvider(provider),
    meta: { title: `${providerNames[provider]} could not be linked` },
  });
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 px-5 py-3.5">
      <Link2 aria-hidden className="size-5 shrink-0 text-faint" />
      <div className="min-w-0 flex-1 basis-40">
        <p className="font-medium">{providerNames[provider]}</p>
        <p className="text-[0.8125rem] text-muted">
          Not linked. Its email address must match this account's.
        </p>
      </div>
      <Button size="sm" loading={link.isPending} onClick={() => link.mutate()}>
        Link
      </Button>
    </li>
  );
}
