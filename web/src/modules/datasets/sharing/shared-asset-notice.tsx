import type { Asset } from '@bakehouse/contract/assets';
import { useNavigate } from '@tanstack/react-router';
import { Button } from '../../../ui/button.tsx';
import { notify } from '../../../ui/notify.ts';
import { useUser } from '../../accounts/session.ts';
import { useUnshare } from './sharing-calls.ts';

type Props = { asset: Asset; list: '/dataset' | '/model' };

/** The owner of an asset shared with the user, and a button to leave it. */
export function SharedAssetNotice({ asset, list }: Props) {
  const user = useUser();
  const navigate = useNavigate();
  const unshare = useUnshare(asset.dataset_id);
  const canLeave = asset.is_shared && !asset.is_published;
  const leave = () =>
    unshare.mutate(user.username, {
      onSuccess: () => {
        notify.success(`${asset.title} is no longer shared with you`);
        void navigate({ to: list });
      },
    });
  return (
    <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-compact text-muted">
      <span className="[overflow-wrap:anywhere]">
        Owned by <span className="font-medium text-ink">{asset.owner_username}</span>. You can view and use
        it, but not change it.
      </span>
      {canLeave && (
        <Button size="sm" variant="ghost" className="-ml-2.5" loading={unshare.isPending} onClick={leave}>
          Remove from my list
        </Button>
      )}
    </p>
  );
}
