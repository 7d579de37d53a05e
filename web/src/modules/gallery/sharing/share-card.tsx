import { useQuery } from '@tanstack/react-query';
import { Link2 } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { CopyButton } from '../../../ui/copy-button.tsx';
import { Field } from '../../../ui/field.tsx';
import { Input } from '../../../ui/input.tsx';
import { QueryView } from '../../../ui/query-view.tsx';
import { RelativeTime } from '../../../ui/relative-time.tsx';
import { LoadingRegion, Skeleton } from '../../../ui/skeleton.tsx';
import { shareQuery, useShareLink, useStopSharing } from './share-link-calls.ts';

type Props = { id: string; noun: 'picture' | 'video' };

/** A card to create, copy and revoke the share link of a generation. */
export function ShareCard({ id, noun }: Props) {
  const query = useQuery(shareQuery(id));
  // The pressed button disappears, so its replacement takes the focus.
  const [hasChanged, setHasChanged] = useState(false);
  return (
    <Card title="Share">
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
            <p className="text-compact text-muted">
              {share
                ? `Anyone with this link can see the ${noun}, its prompt and your name.`
                : `Create a link that shows this ${noun}, its prompt and your name to anyone, without signing in.`}
            </p>
            {share ? (
              <SharedLink
                id={id}
                share={share}
                takesFocus={hasChanged}
                onStopped={() => setHasChanged(true)}
              />
            ) : (
              <ShareButton id={id} takesFocus={hasChanged} onShared={() => setHasChanged(true)} />
            )}
          </div>
        )}
      </QueryView>
    </Card>
  );
}

type ShareButtonProps = { id: string; takesFocus: boolean; onShared: () => void };

function ShareButton({ id, takesFocus, onShared }: ShareButtonProps) {
  const share = useShareLink(id);
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
  id: string;
  share: { url: string; created_at: string };
  takesFocus: boolean;
  onStopped: () => void;
};

function SharedLink({ id, share: { url, created_at }, takesFocus, onStopped }: SharedLinkProps) {
  const stop = useStopSharing(id);
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
            stop.mutate();
          }}
        >
          Stop sharing
        </Button>
      </div>
    </>
  );
}
