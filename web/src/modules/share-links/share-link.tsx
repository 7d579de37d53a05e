import { useQuery } from '@tanstack/react-query';
import { Link2 } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Field } from '../../ui/field.tsx';
import { Input } from '../../ui/input.tsx';
import { notify } from '../../ui/notify.ts';
import { QueryView } from '../../ui/query-view.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { LoadingRegion, Skeleton } from '../../ui/skeleton.tsx';
import { type Shareable, shareQuery, useShareLink, useStopSharing } from './share-link-calls.ts';

type Props = {
  of: Shareable;
  /** What it is: 'picture'. */
  noun: string;
  /** What the link shows beside it: 'its prompt and your name'. */
  shows: string;
  /** What the link does not show, as a sentence. */
  hides?: string;
};

/** The same as a card of a page. */
export function ShareCard(props: Props) {
  return (
    <Card title="Share">
      <ShareLink {...props} />
    </Card>
  );
}

/** The link that shows something of the user's to anybody: made here, copied, and revoked. */
export function ShareLink({ of, noun, shows, hides }: Props) {
  const query = useQuery(shareQuery(of));
  // The button that was pressed goes: the focus passes to what has come in its place.
  const [hasChanged, setHasChanged] = useState(false);
  return (
    <QueryView
      query={query}
      failed="The share link could not be loaded"
      compact
      pending={
        <LoadingRegion label="Loading the share link">
          <Skeleton className="h-24 w-full" />
        </LoadingRegion>
      }
    >
      {({ share }) => (
        <div className="grid justify-items-start gap-3">
          <p className="text-[0.8125rem] text-muted">
            {share
              ? `Anyone with this link can see the ${noun}, ${shows}.`
              : `Create a link that shows this ${noun}, ${shows} to anyone, without signing in.`}
            {hides && ` ${hides}`}
          </p>
          {share ? (
            <SharedLink of={of} share={share} takesFocus={hasChanged} onStopped={() => setHasChanged(true)} />
          ) : (
            <ShareButton of={of} takesFocus={hasChanged} onShared={() => setHasChanged(true)} />
          )}
        </div>
      )}
    </QueryView>
  );
}

type ShareButtonProps = { of: Shareable; takesFocus: boolean; onShared: () => void };

function ShareButton({ of, takesFocus, onShared }: ShareButtonProps) {
  const share = useShareLink(of);
  return (
    <Button
      loading={share.isPending}
      onClick={() => {
        onShared();
        share.mutate();
      }}
      autoFocus={takesFocus}
    >
      <Link2 aria-hidden />
      Share link
    </Button>
  );
}

type SharedLinkProps = {
  of: Shareable;
  share: { url: string; created_at: string };
  takesFocus: boolean;
  onStopped: () => void;
};

function SharedLink({ of, share: { url, created_at }, takesFocus, onStopped }: SharedLinkProps) {
  const stop = useStopSharing(of);
  return (
    <>
      <div className="flex w-full flex-wrap items-end gap-2">
        <Field label="Link" className="min-w-0 flex-1 basis-40">
          <Input
            readOnly
            value={url}
            onFocus={(event) => event.currentTarget.select()}
            autoFocus={takesFocus}
          />
        </Field>
        <CopyButton text={url} label="Copy link" withText />
      </div>
      <div className="flex w-full flex-wrap items-center justify-between gap-2">
        <span className="text-muted text-xs">
          Shared <RelativeTime at={created_at} inSentence />
        </span>
        <Button
          size="sm"
          loading={stop.isPending}
          onClick={() => {
            onStopped();
            stop.mutate(undefined, { onSuccess: () => notify.success('The link no longer works') });
          }}
        >
          Stop sharing
        </Button>
      </div>
    </>
  );
}
