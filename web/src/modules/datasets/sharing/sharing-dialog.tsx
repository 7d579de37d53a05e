import type { Asset } from '@bakehouse/contract/assets';
import { useQuery } from '@tanstack/react-query';
import { Globe, Lock, X } from 'lucide-react';
import { type FormEvent, useId, useState } from 'react';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Field } from '../../../ui/field.tsx';
import { Input } from '../../../ui/input.tsx';
import { errorMessage } from '../../../ui/notify.ts';
import { QueryView } from '../../../ui/query-view.tsx';
import { RadioCards } from '../../../ui/radio-cards.tsx';
import { RelativeTime } from '../../../ui/relative-time.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { useUpdateAsset } from '../asset-calls.ts';
import { sharesQuery, useShare, useUnshare } from './sharing-calls.ts';

const choices = [
  {
    value: 'private',
    label: 'Private',
    description: 'Only you and the users you share it with.',
    icon: <Lock aria-hidden />,
  },
  {
    value: 'published',
    label: 'Published',
    description: 'Every user can find and use it. Only you can change it.',
    icon: <Globe aria-hidden />,
  },
] as const;

type Props = { asset: Asset; kind: 'dataset' | 'model'; onClose: () => void };

/** Chooses who sees an asset: only the owner, everyone, or named users. Each change applies immediately. */
export function SharingDialog({ asset, kind, onClose }: Props) {
  const update = useUpdateAsset(asset.dataset_id);
  // Shows the new choice while saving; after a failure, the saved one.
  const chosen = update.isPending ? update.variables.is_published : asset.is_published;
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={`Share ${asset.title}`}
      footer={
        <Button variant="primary" onClick={onClose}>
          Done
        </Button>
      }
    >
      <div className="flex flex-col gap-5">
        <Field
          label={`Who can see this ${kind}`}
          help="If you make it private, users you have not shared it with lose access. Their running work continues."
        >
          <RadioCards
            value={chosen ? 'published' : 'private'}
            onChange={(value) => update.mutate({ is_published: value === 'published' })}
            options={choices}
            columns={2}
          />
        </Field>
        <ShareForm id={asset.dataset_id} />
        <ShareList id={asset.dataset_id} />
      </div>
    </Dialog>
  );
}

function ShareForm({ id }: { id: string }) {
  const share = useShare(id);
  const [username, setUsername] = useState('');
  const [isEmpty, setIsEmpty] = useState(false);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setIsEmpty(username.trim() === '');
    if (username.trim() === '' || share.isPending) return;
    share.mutate(username.trim(), { onSuccess: () => setUsername('') });
  };
  const failure = share.error ? errorMessage(share.error) : undefined;
  return (
    <form onSubmit={submit} noValidate>
      <Field
        label="Share with"
        error={isEmpty ? 'Enter a username' : failure}
        help="They can read and use it, and get a notification."
      >
        <div className="flex gap-2">
          <div className="min-w-0 flex-1">
            <Input
              value={username}
              onChange={(event) => {
                setUsername(event.target.value);
                setIsEmpty(false);
                share.reset();
              }}
              placeholder="Username"
              autoComplete="off"
              autoCapitalize="none"
              spellCheck={false}
            />
          </div>
          <Button type="submit" loading={share.isPending}>
            Share
          </Button>
        </div>
      </Field>
    </form>
  );
}

function ShareList({ id }: { id: string }) {
  const titleId = useId();
  const unshare = useUnshare(id);
  return (
    <QueryView
      query={useQuery(sharesQuery(id))}
      failed="The users you share it with could not be loaded"
      pending={<Skeleton className="h-9 w-full" />}
    >
      {({ shares }) =>
        shares.length === 0 ? (
          <p className="text-compact text-muted">Not shared with anyone by username.</p>
        ) : (
          <div>
            <h3 id={titleId} className="mb-1 font-medium text-compact">
              Shared with
            </h3>
            <ul aria-labelledby={titleId} className="divide-y divide-line">
              {shares.map(({ username, shared_at }) => (
                <li key={username} className="flex items-center gap-3 py-1.5">
                  <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">{username}</span>
                  <span className="shrink-0 text-muted text-xs">
                    <RelativeTime at={shared_at} />
                  </span>
                  <Button
                    variant="ghost"
                    size="icon-sm"
                    aria-label={`Stop sharing with ${username}`}
                    loading={unshare.isPending && unshare.variables === username}
                    onClick={() => unshare.mutate(username)}
                  >
                    <X aria-hidden />
                  </Button>
                </li>
              ))}
            </ul>
          </div>
        )
      }
    </QueryView>
  );
}
