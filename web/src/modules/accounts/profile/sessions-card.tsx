import type { Session } from '@bakehouse/contract/profile';
import { useQuery } from '@tanstack/react-query';
import { MonitorSmartphone } from 'lucide-react';
import { useState } from 'react';
import { describeBrowser } from '../../../lib/format/describe-browser.ts';
import { formatDateTime } from '../../../lib/format/format-time.ts';
import { Badge } from '../../../ui/badge.tsx';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { ListSkeleton } from '../../../ui/list-skeleton.tsx';
import { notify } from '../../../ui/notify.ts';
import { QueryView } from '../../../ui/query-view.tsx';
import { RelativeTime } from '../../../ui/relative-time.tsx';
import { sessionsQuery, useEndSessions } from './profile-calls.ts';

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
        <p className="text-compact text-muted tabular-nums [overflow-wrap:anywhere]">
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
